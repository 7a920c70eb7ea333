// The two roles of docs/roles.md, which explains each privilege. A test holds them equal.
const viewer = {
  createRole: 'shardboardViewer',
  privileges: [
    { resource: { cluster: true }, actions: ['connPoolStats', 'shardedDataDistribution'] },
    ...['actionlog', 'changelog', 'chunks', 'collections', 'databases', 'migrations', 'mongos', 'placementHistory', 'settings', 'shards',
      'tags', 'version']
      .map((collection) => ({ resource: { db: 'config', collection }, actions: ['find'] })),
    { resource: { db: 'yorkie-meta', collection: '' }, actions: ['collStats', 'dbStats', 'listCollections'] },
    ...['changes', 'clients', 'documents', 'projects', 'revisions', 'schemas', 'snapshot_bodies', 'snapshots', 'versionvectors']
      .map((collection) => ({ resource: { db: 'yorkie-meta', collection }, actions: ['find'] })),
  ],
  roles: [],
};

const operator = {
  createRole: 'shardboardOperator',
  privileges: [
    { resource: { cluster: true }, actions: ['inprog', 'removeShard'] },
    { resource: { db: 'config', collection: 'settings' }, actions: ['insert', 'update'] },
    { resource: { db: 'config', collection: 'shards' }, actions: ['update'] },
    { resource: { db: 'config', collection: 'tags' }, actions: ['remove', 'update'] },
    { resource: { db: 'yorkie-meta', collection: '' }, actions: ['clearJumboFlag', 'enableSharding', 'listIndexes', 'moveChunk', 'refineCollectionShardKey', 'splitChunk'] },
    { resource: { db: 'yorkie-meta', collection: '' }, actions: ['moveCollection', 'reshardCollection', 'unshardCollection'] },
    { resource: { cluster: true }, actions: ['transitionToDedicatedConfigServer'] },
  ],
  roles: [{ role: 'shardboardViewer', db: 'admin' }],
};

module.exports = [viewer, operator];
