'use strict';
// Starts kinesis-local on 127.0.0.1 and prints "listening on http://127.0.0.1:PORT" once it does.
//
//   node start.cjs [--port N] [--stop-with-stdin]
//
// Port 0, the default, is any free one. To stop it, end this very process.

require('./loopback.cjs');
const net = require('node:net');
const path = require('node:path');

const HOST = '127.0.0.1';
const CHANGES = [
  'CREATE_STREAM',
  'DELETE_STREAM',
  'SPLIT_SHARD',
  'MERGE_SHARDS',
  'UPDATE_SHARD_COUNT',
  'REGISTER_STREAM_CONSUMER',
  'DEREGISTER_STREAM_CONSUMER',
];

/** A port nobody listens on right now. */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, HOST, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Resolves once somebody answers there. */
function answering(port) {
  return new Promise((resolve) => {
    const attempt = () => {
      const socket = net.connect(port, HOST, () => {
        socket.destroy();
        resolve();
      });
      socket.once('error', () => setTimeout(attempt, 20));
    };
    attempt();
  });
}

/** Where `npm install` put it. */
function installed() {
  try {
    return path.dirname(require.resolve('kinesis-local/package.json'));
  } catch {
    console.error(`kinesis-local is not installed: run "npm ci" in ${__dirname}.`);
    process.exit(3);
  }
}

/** Short durations: a test waits for each of them. */
function settings(home, plainPort, tlsPort) {
  return {
    KINESIS_MOCK_CERT_PATH: path.join(home, 'server.json'),
    KINESIS_MOCK_PLAIN_PORT: String(plainPort),
    KINESIS_MOCK_TLS_PORT: String(tlsPort),
    AWS_REGION: 'us-east-1',
    SHARD_LIMIT: '1000',
    LOG_LEVEL: 'ERROR',
    ...Object.fromEntries(CHANGES.map((change) => [`${change}_DURATION`, '50ms'])),
  };
}

async function main(args) {
  const at = args.indexOf('--port');
  const port = (at >= 0 && Number(args[at + 1])) || (await freePort());
  const home = installed();
  Object.assign(process.env, settings(home, port, await freePort()));
  require(path.join(home, 'main.js'));
  await answering(port);
  console.log(`listening on http://${HOST}:${port}`);
  if (args.includes('--stop-with-stdin')) process.stdin.resume().on('end', () => process.exit(0));
}

main(process.argv.slice(2));
