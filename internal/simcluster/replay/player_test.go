package replay

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/simcluster"
)

// player sends recorded commands to a cluster with the driver.
type player struct {
	t       *testing.T
	file    string
	cluster *simcluster.Cluster
	client  *mongo.Client
	rules   *rules
	pairs   *correspondence
	done    map[int]string // by n: how it was compared
	// sampled are recorded uuids of collections whose chunks a server cut by a sample;
	// invariants checks them instead.
	sampled []string
}

func newPlayer(t *testing.T, file string, o simcluster.Options) *player {
	t.Helper()
	c, err := simcluster.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(c).SetServerMonitoringMode("poll"))
	if err != nil {
		t.Fatal(err)
	}
	return &player{t: t, file: file, cluster: c, client: client, rules: loadRules(t), pairs: newCorrespondence(), done: make(map[int]string)}
}

// close ends the connection and the cluster; in a synctest bubble before its end.
func (p *player) close() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.client.Disconnect(ctx); err != nil {
		p.t.Error(err)
	}
	if err := p.cluster.Close(); err != nil {
		p.t.Error(err)
	}
}

// run sends a command and gives the server's whole answer, be it an error.
func (p *player) run(db string, cmd any) bson.Raw {
	p.t.Helper()
	raw, err := p.client.Database(db).RunCommand(p.t.Context(), cmd).Raw()
	var failed mongo.CommandError
	if errors.As(err, &failed) && failed.Raw != nil {
		return failed.Raw
	}
	if err != nil && raw == nil {
		p.t.Fatalf("%s: %v", db, err)
	}
	return raw
}

// mustRun runs a command that is not in the recording.
func (p *player) mustRun(db string, cmd any) bson.Raw {
	p.t.Helper()
	reply := p.run(db, cmd)
	if !ok(reply) {
		p.t.Fatalf("%v: %s", cmd, reply)
	}
	return reply
}

// request is a recorded command as a driver sends it, with our values in place of the
// recorded server's generated ones.
func (p *player) request(s step) bson.D {
	cmd := p.pairs.translate(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: s.Cmd}).(bson.D)
	kept := cmd[:0]
	for _, e := range cmd {
		if e.Key != "$db" && e.Key != "$readPreference" {
			kept = append(kept, e)
		}
	}
	return kept
}

// play plays one step and compares.
func (p *player) play(s step) {
	p.t.Helper()
	if s.Kind == "dump" {
		p.compareStep(s, nil, p.dump(s.name()))
		return
	}
	if rule, _ := p.rules.stepRuleFor(p.file, s.N); rule.as == absent {
		p.done[s.N] = absent
		return
	}
	begun := time.Now()
	reply := p.run(s.DB, p.request(s))
	p.compareStep(s, reply, nil)
	p.checkDuration(s, time.Since(begun))
}

// checkDuration checks that a command with a time limit answered at once or at its limit, as
// recorded: the step's note ends with the duration.
func (p *player) checkDuration(s step, took time.Duration) {
	p.t.Helper()
	_, last, ok := strings.Cut(s.Note, "[")
	recorded, err := time.ParseDuration(strings.TrimSuffix(last, "]"))
	limit, limited := s.Cmd.Lookup("maxTimeMS").Int32OK()
	if !ok || err != nil || !limited {
		return
	}
	bound := time.Duration(limit) * time.Millisecond
	if (recorded >= bound) != (took >= bound) {
		p.t.Errorf("%s %d %s: took %s", p.file, s.N, s.Note, took)
	}
}

// compareStep compares a reply or a dump according to the rules.
func (p *player) compareStep(s step, reply bson.Raw, rows []bson.RawValue) {
	p.t.Helper()
	rule, special := p.rules.stepRuleFor(p.file, s.N)
	how := exact
	if special {
		how = rule.as
	}
	p.done[s.N] = how
	c := comparison{rules: p.rules, pairs: p.pairs, loose: how == typeOnly}
	switch {
	case how == absent:
		return
	case how == invariant && s.Kind == "dump":
		p.checkInvariants()
	case how == invariant:
		want, _ := s.answer()
		if ok(want) != ok(reply) {
			c.reportDifference([]string{s.name()}, "answered %s", reply)
		}
	case s.Kind == "dump":
		want, _ := s.Reply.Array().Values()
		p.compareRows(&c, s.name(), want, rows)
	default:
		p.compareReply(&c, s, reply)
	}
	for _, diff := range c.out {
		p.t.Errorf("%s %d %s (%s): %s", p.file, s.N, s.Note, truncate(s.Cmd.String()), diff)
	}
}

func (p *player) compareReply(c *comparison, s step, reply bson.Raw) {
	want, whole := s.answer()
	if _, err := want.LookupErr("$clusterTime"); err != nil {
		// Recordings of other programs lack ok and cluster times.
		reply = without(reply, "$clusterTime", "operationTime")
	}
	if whole {
		c.compareDocument([]string{s.name()}, want, reply)
		return
	}
	for _, k := range []string{"ok", "code", "codeName", "errmsg"} {
		w, err := want.LookupErr(k)
		if err == nil {
			g, _ := reply.LookupErr(k)
			c.compareValue([]string{s.name(), k}, w, g)
		}
	}
}

func without(d bson.Raw, names ...string) bson.Raw {
	list, _ := d.Elements()
	var kept bson.D
	for _, e := range list {
		if !slices.Contains(names, e.Key()) {
			kept = append(kept, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	raw, _ := bson.Marshal(kept)
	return raw
}

func ok(reply bson.Raw) bool {
	f, isFloat := reply.Lookup("ok").DoubleOK()
	return isFloat && f == 1
}
