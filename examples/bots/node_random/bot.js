// A bot that plays at random, every variant of every game: clients/README.md and the protos are all it
// is written from. The same PEGBOARD_BOT_SEED gives the same moves, whatever the order of the turns.
'use strict';

const crypto = require('node:crypto');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const PROTOS = process.env.PEGBOARD_PROTOS || path.join(__dirname, '..', '..', '..', 'protos');
const INCLUDED = [PROTOS, path.join(PROTOS, 'third_party')];
const ADDRESS = process.env.PEGBOARD_ADDRESS || 'localhost:50151';
// A proxy of the environment cannot reach this machine's own sockets.
const LOCAL = /^(unix:|localhost:|127\.|\[::1\]:)/.test(ADDRESS);
const TOKEN = process.env.PEGBOARD_TOKEN || '';
const SEED = process.env.PEGBOARD_BOT_SEED || '1';

const PROTOCOL_VERSION = 1;
const PATIENCE_MS = 60_000;
const BACKOFF_FIRST_MS = 100;
const BACKOFF_MOST_MS = 5_000;
const SILENCE_BEATS = 3;
// After these a new connection may help; after any other status it does not.
const TRY_AGAIN = new Set([
  grpc.status.UNAVAILABLE,
  grpc.status.INTERNAL,
  grpc.status.CANCELLED,
  grpc.status.DEADLINE_EXCEEDED,
]);

const definition = loader.loadSync('pegboard/v1/play.proto', {
  includeDirs: INCLUDED,
  keepCase: true,
  longs: String,
  enums: String,
  arrays: true,
});
const { PlayService } = grpc.loadPackageDefinition(definition).pegboard.v1;

/** Return a hash that depends on the seed and the question only: the luck of one choice. */
function chance(turn, min, max) {
  const question = `${SEED}/${turn.match}/${turn.seat || 0}/${turn.turn_id}/${min}/${max}`;
  return crypto.createHash('sha256').update(question).digest();
}

/** Answer a turn: any listed move; if it takes a number, mostly a small one. */
function choose(turn) {
  const ranges = turn.legal_moves.map((move) => move.number_range);
  const { min = 0, max = 0 } = ranges.find(Boolean) || {};
  const digest = chance(turn, min, max);
  const answer = {
    match: turn.match,
    seat: turn.seat,
    turn_id: turn.turn_id,
    index: digest.readUIntBE(0, 6) % turn.legal_moves.length,
  };
  const range = ranges[answer.index];
  if (range) {
    const { min: low = 0, max: high = 0 } = range;
    answer.number = Math.min(high, low + Math.floor((digest[6] * digest[7]) / 4096));
  }
  return answer;
}

class Player {
  constructor() {
    this.client = new PlayService(ADDRESS, grpc.credentials.createInsecure(), {
      'grpc.initial_reconnect_backoff_ms': BACKOFF_FIRST_MS,
      'grpc.max_reconnect_backoff_ms': 1_000,
      'grpc.enable_http_proxy': LOCAL ? 0 : 1,
    });
    this.lostAt = Date.now();
    this.backoffMs = BACKOFF_FIRST_MS;
    this.stopping = false;
  }

  connect() {
    this.call = this.client.Play();
    this.call.on('data', (response) => this.take(response));
    this.call.on('error', () => {}); // `status` follows and says the same
    this.call.on('status', (status) => this.ended(status));
    this.call.write({
      hello: {
        token: TOKEN,
        kit: 'pegboard-node-example',
        kit_version: '0.1.0',
        protocol_version: PROTOCOL_VERSION,
      },
    });
  }

  /** Take one message. A turn whose answer was rejected comes again: nothing has to be kept. */
  take(response) {
    if (response.welcome) this.welcomed(response.welcome);
    const answers = response.turns.map(choose);
    const heartbeat = response.heartbeat;
    if (answers.length > 0 || heartbeat) this.call.write({ answers, heartbeat });
    this.watch();
  }

  welcomed(welcome) {
    this.silenceMs = (welcome.heartbeat_interval_ms || 10_000) * SILENCE_BEATS;
    this.lostAt = 0;
    this.backoffMs = BACKOFF_FIRST_MS;
  }

  /** Give the connection up when the server has been silent for too long. */
  watch() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.call.cancel(), this.silenceMs);
  }

  ended(status) {
    clearTimeout(this.silence);
    if (this.stopping || status.code === grpc.status.OK) return this.leave(0);
    if (!TRY_AGAIN.has(status.code)) return this.fail(status.details);
    if (this.lostAt === 0) this.lostAt = Date.now();
    if (Date.now() - this.lostAt > PATIENCE_MS) {
      return this.fail(`no server at ${ADDRESS} for ${PATIENCE_MS / 1000} s; is it running?`);
    }
    setTimeout(() => this.connect(), this.backoffMs * (0.5 + Math.random()));
    this.backoffMs = Math.min(this.backoffMs * 2, BACKOFF_MOST_MS);
  }

  /** Leave by half-closing; the server ends the stream. */
  stop() {
    if (this.stopping) return;
    this.stopping = true;
    this.call.end();
    setTimeout(() => this.leave(0), 2_000);
  }

  fail(detail) {
    process.stderr.write(`pegboard bot: ${detail}\n`);
    this.leave(1);
  }

  leave(status) {
    this.client.close();
    process.exit(status);
  }
}

const player = new Player();
process.on('SIGTERM', () => player.stop());
process.on('SIGINT', () => player.stop());
player.connect();
