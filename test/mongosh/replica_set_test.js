// Runs deploy/compose/init/replica-set.js in node against an imitation of a replica set: what mongosh gives to scripts,
// and of the server the commands that the script uses, with the rules that matter.
const assert = require('node:assert');
const fs = require('node:fs');
const vm = require('node:vm');
const path = require('node:path');
const os = require('node:os');

const source = fs.readFileSync(process.argv[2], 'utf8');
const secrets = fs.mkdtempSync(path.join(os.tmpdir(), 'secrets-'));
fs.writeFileSync(path.join(secrets, 'admin'), 'the-password\n');
process.on('exit', () => fs.rmSync(secrets, { recursive: true }));

class ReplicaSet {
  config = null;
  user = null;
  signedIn = false;
  primary = 0; // how often it was asked whether it is the primary member
  waits = new Map(); // member → rounds until it has copied the data
  refusals = []; // errors of the next changes, which the set is too busy for
  steps = [];

  connection(uri) {
    const ofSet = /^mongodb:\/\/admin:the-password@[\w:,]+\/admin\?replicaSet=[\w-]+&authSource=admin$/.test(uri);
    if (!ofSet) assert.match(uri, /^mongodb:\/\/127\.0\.0\.1:2701[89]\/admin\?directConnection=true$/);
    this.signedIn = ofSet;
    return {
      auth: (name, password) => {
        if (this.user?.user !== name || this.user.pwd !== password) throw new Error('Authentication failed.');
        this.signedIn = true;
        return { ok: 1 };
      },
      hello: () => ({ setName: this.config?._id, isWritablePrimary: this.config !== null && ++this.primary > 2 }),
      createUser: (user) => {
        assert(this.user === null && this.primary > 2, 'only the first user may be made without signing in, on the primary');
        this.user = user;
        this.steps.push('user');
      },
      adminCommand: (command) => this.run(command),
    };
  }

  run(command) {
    const name = Object.keys(command)[0];
    if (name === 'replSetInitiate' || name === 'replSetReconfig') {
      const refusal = this.refusals.shift();
      if (refusal) throw new Error(refusal);
    }
    if (name === 'replSetInitiate') {
      if (this.config) throw Object.assign(new Error('already initialized'), { codeName: 'AlreadyInitialized' });
      this.config = { version: 1, ...structuredClone(command.replSetInitiate) };
      this.steps.push('initiate');
      return { ok: 1 };
    }
    assert(this.signedIn, `${name} needs a user`);
    if (name === 'replSetGetConfig') return { config: structuredClone(this.config) };
    if (name === 'replSetReconfig') {
      const next = structuredClone(command.replSetReconfig);
      assert.strictEqual(next.version, this.config.version + 1);
      assert.strictEqual(next.members.length, this.config.members.length + 1, 'one member in one step');
      assert.strictEqual(new Set(next.members.map((m) => m._id)).size, next.members.length);
      for (const [member, left] of this.waits) assert.strictEqual(left, 0, `${member} is still copying`);
      this.config = next;
      this.waits.set(next.members.at(-1).host, 3);
      this.steps.push(`add ${next.members.at(-1).host}`);
      return { ok: 1 };
    }
    assert.strictEqual(name, 'replSetGetStatus');
    return { members: this.config.members.map(({ host }) => {
      const left = this.waits.get(host) ?? 0;
      if (left > 0) this.waits.set(host, left - 1);
      return { name: host, stateStr: left > 0 ? 'STARTUP2' : 'SECONDARY' };
    }) };
  }
}

const run = (set, env) => {
  vm.runInNewContext(source, {
    require, process: { env: { SECRETS: secrets, ...env } }, sleep: () => {}, print: () => {}, Math, Error,
    connect: (uri) => set.connection(uri),
  });
  return set.steps.splice(0);
};

const set = new ReplicaSet();
const small = { REPLICA_SET: 'shard-rs-1', MEMBERS: 'shard1a:27018' };
const full = { REPLICA_SET: 'shard-rs-1', MEMBERS: 'shard1a:27018 shard1b:27018 shard1c:27018' };
assert.deepStrictEqual(run(set, small), ['initiate', 'user']);
assert.deepStrictEqual(run(set, small), [], 'a second time changes nothing');
assert.deepStrictEqual(run(set, full), ['add shard1b:27018', 'add shard1c:27018']);
assert.deepStrictEqual(run(set, full), [], 'a second time changes nothing');
assert.deepStrictEqual(run(set, small), [], 'no member is removed');
assert.deepStrictEqual(set.config.members.map((m) => m._id), [0, 1, 2]);
assert.strictEqual(set.config.configsvr, undefined);
assert.strictEqual(set.user.pwd, 'the-password');

const config = new ReplicaSet();
run(config, { REPLICA_SET: 'config-rs', MEMBERS: 'config1:27019', CONFIG_SERVER: 'yes' });
assert.strictEqual(config.config.configsvr, true);

// It ended after it had begun: the set is there, its user is not.
const broken = new ReplicaSet();
broken.config = { _id: 'shard-rs-1', version: 1, members: [{ _id: 0, host: 'shard1a:27018' }] };
assert.deepStrictEqual(run(broken, small), ['user']);

// A member that has not read its own configuration yet refuses; a set that changes itself after a new member has copied
// the data does so too.
const busy = new ReplicaSet();
busy.refusals = ['node has not completed startup', 'node has not completed startup'];
assert.deepStrictEqual(run(busy, small), ['initiate', 'user']);
busy.refusals = ['ConfigurationInProgress'];
assert.deepStrictEqual(run(busy, full), ['add shard1b:27018', 'add shard1c:27018']);

// What stays refused ends with the reason.
const stuck = new ReplicaSet();
stuck.refusals = Array(1000).fill('no quorum');
assert.throws(() => run(stuck, small), /the administrator: not within two minutes: no quorum/);
