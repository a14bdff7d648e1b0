"use strict";

let current;

exports.logIn = (name) => {
  current = name;
};
exports.greeting = () => `Hello, ${current.toUpperCase()}`;
