//! Scratch.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures")]
use flakeproof_core::Seed;
use flakeproof_learn::forest::*;
use std::time::Instant;
fn cpu() -> f64 {
    let t = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = t.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&a[1]).unwrap();
    let n = u32::from_le_bytes(bytes[0..4].try_into().unwrap()) as usize;
    let w = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let cells: Vec<f32> = bytes[8..8 + n * w * 4].chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
    let labels: Vec<bool> = bytes[8 + n * w * 4..].iter().map(|b| *b == 1).collect();
    let rows: Vec<&[f32]> = cells.chunks(w).collect();
    let t = Table::from_rows(&rows).unwrap();
    for kind in [Kind::ExtraTrees, Kind::RandomForest] {
        let trees: usize = a[2].parse().unwrap();
        let p = ForestParams { trees, ..ForestParams::new(kind, Seed(1)) };
        let b = Instant::now(); let c0=cpu();
        let f = p.fit(&t, &labels).unwrap();
        let e = b.elapsed(); let c1=cpu();
        if let Some(rows) = a.get(3) {
            let rows: u32 = rows.parse().unwrap();
            let some = t.select(&(0..rows).map(|r| r * 37).collect::<Vec<_>>());
            let c0 = cpu(); let b = Instant::now();
            let s = f.shap(&some).unwrap();
            let (e, c) = (b.elapsed(), cpu() - c0);
            let q = f.predict(&some).unwrap();
            let off = (0..s.rows()).map(|r| (s.base + s.row(r).iter().sum::<f64>() - q[r]).abs()).fold(0.0, f64::max);
            println!("{kind:?} SHAP cpu/row {:.5} wall {e:?} off {off:e}", c / f64::from(rows));
        }
        let b = Instant::now();
        let q = f.predict(&t).unwrap();
        let c2=cpu(); println!("{kind:?} CPU fit {:.2} predict {:.2} fit {e:?} predict {:?} nodes {} {}", c1-c0, c2-c1, b.elapsed(), f.nodes(), q.iter().sum::<f64>());
    }
}
