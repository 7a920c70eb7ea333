// Adds the shards, shards Yorkie's collections as Yorkie's chart does, and makes the users. It runs in mongosh on the
// network of a mongos, and changes nothing that is there already.
//   SHARDS  replica set/host:port of each, with blanks between them
const { readFileSync } = require('fs');
const { join } = require('path');
const secrets = process.env.SECRETS ?? '/secrets';
const secret = (name) => readFileSync(join(secrets, name), 'utf8').trim();
const admin = connect(`${process.env.MONGOS ?? 'mongodb://127.0.0.1:27017'}/admin?directConnection=true`);
const config = admin.getSiblingDB('config');
const database = 'yorkie-meta';

try {
  admin.auth('admin', secret('admin'));
} catch {
  admin.createUser({ user: 'admin', pwd: secret('admin'), roles: ['root'] }); // the first one, from localhost
  admin.auth('admin', secret('admin'));
}

for (const shard of process.env.SHARDS.split(' ')) {
  const name = shard.split('/')[0];
  if (admin.adminCommand({ listShards: 1 }).shards.some((s) => s._id === name)) continue;
  admin.adminCommand({ addShard: shard, name });
  print(`added ${name}`);
}

// The demo has little data: with chunks of 128 MB all of it would be on one shard.
config.settings.updateOne({ _id: 'chunksize' }, { $setOnInsert: { value: 1 } }, { upsert: true });

// The layout of Yorkie since 0.6.41. Sharded while empty, so before Yorkie starts: it makes them unsharded.
const layout = {
  clients: { project_id: 1, _id: 'hashed' },
  documents: { project_id: 1 },
  schemas: { project_id: 1 },
  changes: { doc_id: 'hashed' },
  snapshots: { doc_id: 'hashed' },
  versionvectors: { doc_id: 'hashed' },
  revisions: { doc_id: 'hashed' },
};
admin.adminCommand({ enableSharding: database });
for (const [name, key] of Object.entries(layout)) {
  const ns = `${database}.${name}`;
  if (config.collections.countDocuments({ _id: ns, dropped: { $ne: true } }) === 0) {
    admin.adminCommand({ shardCollection: ns, key });
    print(`sharded ${ns}`);
  }
}

for (const role of require(join(process.env.INIT ?? '/init', 'roles.js'))) {
  const { createRole: name, ...rest } = role;
  const known = admin.adminCommand({ rolesInfo: name }).roles.length > 0;
  admin.adminCommand(known ? { updateRole: name, ...rest } : role);
}

// shardboard may look and change where data is. Yorkie reads and writes its own database. The loader of the demo data
// also splits and moves.
const users = {
  shardboard: ['shardboardOperator'],
  yorkie: [{ role: 'readWrite', db: database }],
  loader: [{ role: 'readWrite', db: database }, 'clusterManager'],
};
for (const [name, roles] of Object.entries(users)) {
  const known = admin.adminCommand({ usersInfo: name }).users.length > 0;
  admin.adminCommand({ [known ? 'updateUser' : 'createUser']: name, pwd: secret(name), roles });
}
print('the cluster is ready');
