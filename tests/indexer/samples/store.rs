//! Storage of chunks.
//! In two lines.
#![allow(dead_code)]

use std::{fmt::{self, Display}, io::*};
use crate::memory as mem;

/// A place for chunks.
#[derive(Debug, Clone)]
pub struct Store<T> {
    items: Vec<T>,
}

pub struct Id(u32);

pub trait Keep: Display + mem::Hold<u8> {
    type Key;
    fn keep(&mut self, key: u32);
    fn keep_all(&mut self) { self.keep(1) }
}

impl<T> Store<T> {
    const LIMIT: usize = limit();

    /// Makes an empty one.
    #[inline]
    pub fn new() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T: fmt::Debug> fmt::Display for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(x) = self.items.get(0) { return write!(f, "{:?}", x); }
        match self.items.len() { 0 => Ok(()), _ => loop { break Ok(()) } }
    }
}

/* a block comment */
enum State { Open, Closed(u8) }

union Bits { a: u32, b: f32 }

type Map = std::collections::HashMap<u32, State>;

macro_rules! square {
    ($x:expr) => { $x * $x };
}

mod inner {
    pub fn helper() -> u32 { super::parse::<u32>("1") }
}

mod elsewhere;
