#!/usr/bin/env node
"use strict";
const fs = require("fs"), { join, resolve: res } = require("path");
const load = require("./load").load;
require("./side-effect");

class Queue extends events.EventEmitter {
  static shared = new Queue();
  #drain = function () { return this.items; };
  push(item) { this.emit("push", item); }
  async *[Symbol.asyncIterator]() { yield 1; }
  'quoted key'() {}
}

const Stack = class extends Queue { pop() {} };

// Runs it.
var run = function named() { while (true) { break; } }, other = () => 1;

const api = {
  get() { return fs.read(); },
  post: async () => {},
  "put-it": function () {},
};

exports.start = function (port) {
  server.on("x", function handler() { return port; });
};
module.exports = { stop() {}, kill: () => {} };
Queue.prototype.clear = function () { return join("a"); };
define(api, "ip", function ip() { return other(); });
import("./lazy.mjs").then((m) => m.go());

export default class extends Stack { peek() {} }
