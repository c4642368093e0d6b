'use strict';
// kinesis-local listens on every address and has no option against it. Whoever requires this file
// first has every server of the process listen on the loopback address only.

const net = require('node:net');

const HOST = '127.0.0.1';
const listen = net.Server.prototype.listen;

/** The same arguments, naming the loopback address in place of whatever they named. */
function onLoopback([first, ...rest]) {
  if (first !== null && typeof first === 'object') return [{ ...first, host: HOST }, ...rest];
  const callbacks = rest.filter((argument) => typeof argument === 'function');
  return [{ port: Number(first) || 0, host: HOST }, ...callbacks];
}

net.Server.prototype.listen = function listenOnLoopback(...args) {
  return listen.apply(this, onLoopback(args));
};
