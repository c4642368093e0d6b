'use strict';
// kinesis-local listens on every address and has no option against it. Whoever requires this file
// first has every server of the process listen on the loopback address only.

const net = require('node:net');

const HOST = '127.0.0.1';
const listen = net.Server.prototype.listen;

/** The same arguments, naming the loopback address in place of whatever they named. */
function onLoopback([first, ...rest]) {
  if (first !== null && typeof first === 'object') return [{ ...first, host: HOST }, ...rest];
  const others = rest.filter((argument) => typeof argument !== 'string');
  return [{ port: Number(first) || 0, host: HOST }, ...others.filter((a) => typeof a === 'function')];
}

net.Server.prototype.listen = function listenOnLoopback(...args) {
  return listen.apply(this, onLoopback(args));
};
