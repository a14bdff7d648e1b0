pub mod basket;
