//! How every picture begins, and how foreign text stands in it.

/// The beginning of a chart: its size, its looks, and its title on top.
pub(super) fn opening(width: f64, height: f64, title: &str, style: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{style}\n<text class=\"title\" x=\"20\" y=\"24\">{title}</text>\n",
    )
}

/// A text as it may stand in XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
