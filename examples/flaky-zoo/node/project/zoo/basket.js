"use strict";

/** What a customer is about to buy: pairs of price in cents and how many. */
exports.total = (items) => items.reduce((sum, [price, count]) => sum + price * count, 0);
