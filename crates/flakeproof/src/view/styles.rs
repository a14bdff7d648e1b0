//! Colours by meaning.

use anstyle::{AnsiColor, Color, Effects, Style};

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}

/// Something failed for real.
pub(super) const BAD: Style = colour(AnsiColor::Red).effects(Effects::BOLD);
/// Something failed by chance.
pub(super) const CHANCE: Style = colour(AnsiColor::Yellow).effects(Effects::BOLD);
/// Something is not known.
pub(super) const OPEN: Style = colour(AnsiColor::Magenta).effects(Effects::BOLD);
/// All is well.
pub(super) const GOOD: Style = colour(AnsiColor::Green).effects(Effects::BOLD);
/// What a reader may skip.
pub(super) const DIM: Style = Style::new().effects(Effects::DIMMED);
/// What a reader should find.
pub(super) const STRONG: Style = Style::new().effects(Effects::BOLD);
