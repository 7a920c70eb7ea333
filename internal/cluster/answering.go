package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

const (
	// answerWithin is how long a server may take for one row.
	answerWithin = 1500 * time.Millisecond
	// routerWithin is how long mongos may take to say that a server took longer.
	routerWithin = 2 * answerWithin
)

// Ask reads at most one row and leaves no cursor, and tells whether the server that has it answered; see
// topology.AnswerSource. A refusal, such as of a hint whose index is missing, is an answer too. Needs find on the
// collection.
func (c *Client) Ask(ctx context.Context, ns topology.Namespace, filter bson.D, hint bson.Raw, secondary bool) error {
	cmd := find(ns.Collection(), filter, append(singleBatch(1), fields("_id"),
		bson.E{Key: "maxTimeMS", Value: answerWithin.Milliseconds()},
		// With another collation mongos would ask all shards for a text.
		bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}})...)
	if hint != nil {
		cmd = append(cmd, bson.E{Key: "hint", Value: hint})
	}
	run := options.RunCmd()
	if secondary {
		run.SetReadPreference(readpref.SecondaryPreferred())
	}
	p, err := c.use(ctx)
	if err != nil {
		return err
	}
	defer p.release()
	// With a deadline the driver would send a time limit of its own, and give up before mongos tells of one.
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer time.AfterFunc(routerWithin, stop).Stop()
	_, err = p.readAgain(waiting, ns.Database(), cmd, run)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return fault.NoAnswer(err, "The mongos at %s did not answer in time.", c.hosts())
	}
	said, ok := answerOf(err)
	var server mongo.ServerError
	if !ok || !errors.As(err, &server) || server.HasErrorCode(codeUnauthorized) || server.HasErrorCode(codeAuthentication) {
		return c.classify(ctx, err, "ask for a row of "+quoted(string(ns)), "find on "+string(ns))
	}
	if unavailable(said.code) {
		return fault.Wrap(fault.Unavailable, &topology.NotAnsweredError{Said: said.text}, "The server that has the row did not answer.")
	}
	return nil
}

// ReplicaSets asks the mongos which members of the replica sets it reaches, with one connPoolStats, which it answers
// alone. Needs the action connPoolStats, which clusterMonitor has.
func (c *Client) ReplicaSets(ctx context.Context) (out []topology.ReplicaSet, err error) {
	reply, err := c.one(ctx, "admin", bson.D{{Key: "connPoolStats", Value: int32(1)}},
		readOp{what: "ask for the replica sets' members", privilege: "connPoolStats on the cluster"})
	if err != nil {
		return nil, err
	}
	sets, _ := reply.Lookup("replicaSets").DocumentOK()
	w := walk(sets)
	for w.next() {
		set, ok := w.doc()
		if !ok {
			continue
		}
		r := topology.ReplicaSet{Name: string(w.key)}
		hosts, _ := set.Lookup("hosts").ArrayOK()
		members := walk(hosts)
		for members.next() {
			doc, ok := members.doc()
			if !ok {
				continue
			}
			if m, ok := decodeMember(doc); ok {
				r.Members = append(r.Members, m)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func decodeMember(doc bson.Raw) (m topology.Member, ok bool) {
	m.Address, ok = doc.Lookup("addr").StringValueOK()
	m.Reached, _ = doc.Lookup("ok").BooleanOK()
	primary, _ := doc.Lookup("ismaster").BooleanOK()
	m.Primary = m.Reached && primary
	if ms, isNumber := doc.Lookup("pingTimeMillis").AsFloat64OK(); isNumber && m.Reached && ms >= 0 && ms < 1e9 {
		m.Ping = time.Duration(ms * float64(time.Millisecond))
	}
	return m, ok
}

// Primaries returns the primary ("host:port") of each replica set that the mongos watches, by set name. Sets without a
// known primary are left out. Needs the action connPoolStats.
func (c *Client) Primaries(ctx context.Context) (map[string]string, error) {
	sets, err := c.ReplicaSets(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, s := range sets {
		for _, m := range s.Members {
			if m.Primary {
				out[s.Name] = m.Address
			}
		}
	}
	return out, nil
}
