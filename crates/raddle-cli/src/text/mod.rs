//! What a person reads when a campaign is over.

pub mod campaign;
pub mod command_line;
mod racing;
pub mod replay;
pub mod screen;
pub mod search;
pub mod worth;
