package bench

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// peerRatio is the most that a settled minute may cost the server of what a peer costs it.
const peerRatio = 0.01

// exporterEvery is how often Prometheus asks an exporter, by the exporter's documentation.
const exporterEvery = 15 * time.Second

// countedNS is the collection whose chunks the peers count, on so many shards. The server makes less than 8,192 chunks
// of a new collection for each shard; a settled minute of ours costs the same with any number.
const (
	countedNS  = "counted.chunks"
	peerShards = 12
	peerChunks = peerShards * 8_000
)

// measurePeers sends what other programs send for the same knowledge to a cluster of its own, and compares what the
// server examined for them with a settled minute of ours.
func measurePeers(ctx context.Context, r *Report, settled int64, chunks int) error {
	sim, err := simcluster.New(ctx, simcluster.Options{Shards: peerShards, Empty: true, Still: true})
	if err != nil {
		return err
	}
	defer sim.Close() //nolint:errcheck // it is gone with this process
	p := peer{ctx: ctx, sim: sim}
	p.ask("admin", bson.D{{Key: "enableSharding", Value: "counted"}})
	p.ask("admin", bson.D{{Key: "shardCollection", Value: countedNS}, {Key: "key", Value: stage("k", "hashed")},
		{Key: "numInitialChunks", Value: int32(chunks)}})
	for _, x := range []struct {
		name string
		run  func()
		note string
	}{
		{"sh.status() of mongosh", p.status, "once"},
		{"getShardDistribution() of mongosh", func() { p.distribution(countedNS) }, "once, of one collection"},
		{"chunk collectors of mongodb_exporter", func() {
			for range time.Minute / exporterEvery {
				p.exporter()
			}
		}, "a minute, asked every 15 s"},
	} {
		keys, docs := sim.Examined()
		if x.run(); p.err != nil {
			return p.err
		}
		keysNow, docsNow := sim.Examined()
		cost := keysNow - keys + docsNow - docs
		r.tell("examined for "+x.name, float64(cost), "", fmt.Sprintf("%s, of %d chunks", x.note, chunks))
		r.add("a settled minute of shardboard ÷ that", 1000*float64(settled)/float64(max(cost, 1)), "‰", 1000*peerRatio, "")
	}
	return nil
}

// peer is another program. Its first failure is kept, and nothing is sent after it.
type peer struct {
	ctx context.Context
	sim *simcluster.Cluster
	err error
}

// ask sends a command and returns the documents of its answer.
func (p *peer) ask(db string, cmd bson.D) (out []bson.Raw) {
	if p.err != nil {
		return nil
	}
	reply, err := p.sim.Command(p.ctx, db, cmd)
	if p.err = err; err != nil {
		return nil
	}
	batch, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
	if !ok {
		return nil
	}
	values, err := batch.Values()
	p.err = err
	for _, v := range values {
		out = append(out, v.Document())
	}
	return out
}

func (p *peer) find(coll string, filter bson.D, more ...bson.E) []bson.Raw {
	return p.ask("config", append(bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}}, more...))
}

func (p *peer) aggregate(coll string, stages ...bson.D) []bson.Raw {
	return p.ask("config", bson.D{{Key: "aggregate", Value: coll}, {Key: "pipeline", Value: stages}, {Key: "cursor", Value: bson.D{}}})
}

func stage(name string, value any) bson.D { return bson.D{{Key: name, Value: value}} }

// grouped counts documents by a field.
func grouped(by any) bson.D {
	return stage("$group", bson.D{{Key: "_id", Value: by}, {Key: "n", Value: stage("$sum", int32(1))}})
}

// ofCollection selects the chunks of a collection, whose row is given, as mongosh does: before 5.0 they have its name.
func ofCollection(row bson.Raw) bson.D {
	byName := stage("ns", row.Lookup("_id"))
	uuid := row.Lookup("uuid")
	if uuid.IsZero() {
		return byName
	}
	return stage("$or", bson.A{stage("uuid", uuid), byName})
}

func startsWith(db string) bson.D { return stage("_id", bson.Regex{Pattern: "^" + db + `\.`}) }

// status is sh.status() of mongosh 2.
func (p *peer) status() {
	limit := func(n int32) bson.E { return bson.E{Key: "limit", Value: n} }
	p.find("version", bson.D{}, limit(1))
	p.find("shards", bson.D{}, bson.E{Key: "sort", Value: stage("_id", int32(1))})
	p.find("mongos", bson.D{}, bson.E{Key: "sort", Value: stage("ping", int32(-1))}, limit(1))
	p.aggregate("mongos", stage("$match", stage("ping", stage("$gt", time.Now().Add(-time.Minute)))), grouped("$mongoVersion"))
	for _, setting := range []string{"autosplit", "balancer", "balancer"} {
		p.find("settings", stage("_id", setting), limit(1))
	}
	p.ask("admin", stage("balancerStatus", int32(1)))
	p.find("locks", stage("state", int32(2)))
	p.find("actionlog", stage("what", "balancer.round"), bson.E{Key: "sort", Value: stage("time", int32(-1))}, limit(5))
	for _, failed := range []bool{false, true} { // moves of a day that arrived, and that did not
		p.aggregate("changelog", stage("$match", bson.D{{Key: "time", Value: stage("$gt", time.Now().AddDate(0, 0, -1))},
			{Key: "what", Value: "moveChunk.from"}, {Key: "details.errmsg", Value: stage("$exists", failed)}}), grouped("$details.errmsg"))
	}
	for _, db := range p.find("databases", bson.D{}) {
		for _, row := range p.find("collections", startsWith(db.Lookup("_id").StringValue())) {
			p.aggregate("chunks", stage("$match", ofCollection(row)), grouped("$shard"))
		}
	}
}

// distribution is getShardDistribution() of mongosh 2: it counts the chunks of each shard.
func (p *peer) distribution(ns string) {
	for _, row := range p.find("collections", stage("_id", ns)) {
		for _, shard := range p.find("shards", bson.D{}) {
			here := append(ofCollection(row), bson.E{Key: "shard", Value: shard.Lookup("_id")})
			p.aggregate("chunks", stage("$match", here), grouped(int32(1)))
		}
	}
}

// exporter is one scrape of the chunk collectors of percona/mongodb_exporter: all chunks, those of each shard, and
// those of each collection by shard.
func (p *peer) exporter() {
	p.aggregate("chunks", stage("$match", bson.D{}), grouped(int32(1)))
	p.aggregate("chunks", grouped("$shard"))
	for _, db := range p.find("databases", bson.D{}) {
		for _, row := range p.find("collections", startsWith(db.Lookup("_id").StringValue())) {
			if uuid := row.Lookup("uuid"); !uuid.IsZero() {
				p.aggregate("chunks", stage("$match", stage("uuid", uuid)), grouped("$shard"))
			}
		}
	}
}
