// Run by mongosh against an empty simulated cluster with three shards. Every
// line of output is a name, a space and the value in Extended JSON; what mongosh
// prints for people comes as a string.
const out = (name, value) => print(name + ' ' + EJSON.stringify(value, { relaxed: true }));
const app = db.getSiblingDB('app');

out('enableSharding', sh.enableSharding('app').ok);
out('shardRanged', sh.shardCollection('app.ranged', { p: 1 }).collectionsharded);
out('shardHashed', sh.shardCollection('app.hashed', { k: 'hashed' }).collectionsharded);

const many = Array.from({ length: 300 }, (_, i) => ({ p: i, k: i, text: 'a document of some size' }));
out('insertRanged', app.ranged.insertMany(many).acknowledged);
out('insertHashed', Object.keys(app.hashed.insertMany(many).insertedIds).length);
out('insertPlain', app.plain.insertOne({ _id: 1, text: 'plain' }).insertedId);

out('splitAt', sh.splitAt('app.ranged', { p: 100 }).ok);
out('splitFind', sh.splitFind('app.ranged', { p: 200 }).ok);
const refused = (run) => { try { run(); return 'done'; } catch (e) { return e.message; } };
out('splitTwice', refused(() => sh.splitAt('app.ranged', { p: 100 })));
const primary = db.getSiblingDB('config').databases.findOne({ _id: 'app' }).primary;
const other = db.getSiblingDB('config').shards.find({ _id: { $ne: primary } }).sort({ _id: 1 }).toArray()[0]._id;
out('moveChunk', sh.moveChunk('app.ranged', { p: 150 }, other).ok);
const uuid = db.getSiblingDB('config').collections.findOne({ _id: 'app.ranged' }).uuid; // 4.4 keeps chunks by ns
out('movedTo', db.getSiblingDB('config').chunks.findOne({ $or: [{ uuid }, { ns: 'app.ranged' }], 'min.p': 100 }).shard === other);
out('moveNowhere', refused(() => sh.moveChunk('app.ranged', { p: 1 }, 'nowhere')));

out('addShardToZone', sh.addShardToZone(other, 'east').ok);
out('updateZoneKeyRange', sh.updateZoneKeyRange('app.ranged', { p: 100 }, { p: 150 }, 'east').ok);
out('zones', db.getSiblingDB('config').tags.find({}, { _id: 0 }).toArray());
out('zoneInUse', refused(() => sh.removeShardFromZone(other, 'east')));
out('removeRangeFromZone', sh.removeRangeFromZone('app.ranged', { p: 100 }, { p: 150 }).ok);
out('removeShardFromZone', sh.removeShardFromZone(other, 'east').ok);

// While the balancer is on it may begin a round, so the collection whose chunks are counted below is not balanced then.
out('disableBalancing', sh.disableBalancing('app.ranged').matchedCount);
out('noBalance', db.getSiblingDB('config').collections.findOne({ _id: 'app.ranged' }).noBalance);
out('startBalancer', sh.startBalancer().ok);
out('balancerOn', sh.getBalancerState());
out('stopBalancer', sh.stopBalancer().ok);
out('balancerOff', sh.getBalancerState());
out('isBalancerRunning', sh.isBalancerRunning().mode);
out('enableBalancing', sh.enableBalancing('app.ranged').matchedCount);
out('balancerCollectionStatus', sh.balancerCollectionStatus('app.hashed').balancerCompliant);

out('find', app.ranged.find({ p: { $gte: 95, $lt: 105 } }, { _id: 0, p: 1 }).sort({ p: 1 }).toArray().map((d) => d.p));
out('countDocuments', app.hashed.countDocuments({ k: { $lt: 100 } }));
out('aggregate', app.hashed.aggregate([{ $group: { _id: { $mod: ['$k', 3] }, n: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray());
out('update', app.ranged.updateMany({ p: { $lt: 10 } }, { $set: { low: true } }).modifiedCount);
out('delete', app.ranged.deleteMany({ p: { $gte: 290 } }).deletedCount);
out('findOneAndUpdate', app.ranged.findOneAndUpdate({ p: 5 }, { $inc: { n: 1 } }, { returnDocument: 'after' }).n);
out('distinct', app.ranged.distinct('low'));
out('explain', app.hashed.find({ k: 5 }).explain().queryPlanner.winningPlan.stage);
out('collections', app.getCollectionNames().sort());
out('indexes', app.hashed.getIndexes().map((i) => i.name).sort());
out('stats', app.ranged.stats().sharded);
out('listShards', db.adminCommand({ listShards: 1 }).shards.map((s) => s._id));

const distribution = app.ranged.getShardDistribution();
out('distribution', distribution.value);
out('status', sh.status().value);
out('dropDatabase', app.dropDatabase().ok);
out('databases', db.getMongo().getDBNames().includes('app'));
