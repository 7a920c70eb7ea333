package topology

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

// Answering is which servers of the cluster answer, as the mongos in use finds them.
type Answering struct {
	At     time.Time         // when they were last asked; zero: not since the start
	Config Answer            // the config servers' primary
	Shards map[string]Answer // the shards' primaries, by the shard's name
	// ReadOnly: the config servers' primary does not answer, but a secondary does. Routing can be read, not changed.
	ReadOnly bool
	Sets     []ReplicaSet // those that mongos watches, by name; none while SetsErr is set
	SetsErr  error        // why the members are not known
}

// Answer is whether one server answers.
type Answer struct {
	State AnswerState
	Since time.Time // Silent: since when it has given no answer, as far as is known
	Last  time.Time // when it last answered; zero: not since the start
	Said  string    // Silent: what mongos said, hostile text
	Err   error     // NotAsked: why it could not be asked; nil: there is no chunk to ask for
}

// AnswerState is what is known of whether a server answers.
type AnswerState int

// The states of an Answer.
const (
	NotAsked AnswerState = iota
	Answers
	Silent // twice in a row
)

// ReplicaSet is one replica set that mongos watches.
type ReplicaSet struct {
	Name    string
	Members []Member // by address
}

// Member is one member of a replica set as mongos sees it.
type Member struct {
	Address string
	Reached bool
	Primary bool
	Ping    time.Duration // the mean; 0 while it is not reached
	Away    time.Time     // since when it is not reached; zero while it is
}

// State is "primary", "secondary" or, where mongos does not reach it, "away".
func (m Member) State() string {
	switch {
	case !m.Reached:
		return "away"
	case m.Primary:
		return "primary"
	}
	return "secondary"
}

// HasPrimary tells whether mongos knows the set's primary.
func (s ReplicaSet) HasPrimary() bool {
	return slices.ContainsFunc(s.Members, func(m Member) bool { return m.Primary })
}

// NotAnsweredError is the cause of a fault.Unavailable when mongos answered, and said that another server did not.
type NotAnsweredError struct{ Said string }

func (e *NotAnsweredError) Error() string { return "no answer: " + e.Said }

// AnswerSource is a Source that can tell which servers answer.
type AnswerSource interface {
	// Ask reads at most one row and leaves no cursor. hint is the index to use, nil for the server's choice. It gives no
	// error when the server that has the row answered, whatever it said; a fault.Unavailable around a *NotAnsweredError
	// when mongos says that it did not within 1.5 s; any other error tells nothing of that server.
	Ask(ctx context.Context, ns Namespace, filter bson.D, hint bson.Raw, secondary bool) error
	// ReplicaSets asks mongos alone which members it reaches.
	ReplicaSets(ctx context.Context) ([]ReplicaSet, error)
}

// configAsked is a collection of the config servers that everybody may read who may read routing.
const configAsked = Namespace("config.shards")

// answerWatch asks each shard and the config servers for one row every ten seconds.
type answerWatch struct {
	w       *Watcher
	src     AnswerSource
	asked   map[string]question // by shard, what it was asked last
	refused map[Namespace]error // collections that may not be read
}

func (w *Watcher) watchAnswers(ctx context.Context) error {
	src, ok := w.src.(AnswerSource)
	if !ok {
		return nil
	}
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	x := answerWatch{w: w, src: src, asked: map[string]question{}, refused: map[Namespace]error{}}
	for {
		began := time.Now()
		x.turn(ctx)
		if err := clock.Sleep(ctx, max(w.o.Slow-time.Since(began), w.o.Slow/10)); err != nil {
			return err
		}
	}
}

// turn asks all once. While the config servers do not answer, mongos routes nothing, and nothing is known of shards.
func (x *answerWatch) turn(ctx context.Context) {
	t := x.w.Table()
	var sets []ReplicaSet
	var setsErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, x.w.o.Timeout)
		defer cancel()
		sets, setsErr = x.src.ReplicaSets(ctx)
	})
	config := x.askTwice(ctx, t.Answering.Config, question{ns: configAsked, filter: bson.D{}})
	readOnly := false
	if config.State == Silent {
		readOnly = x.src.Ask(ctx, configAsked, bson.D{}, nil, true) == nil
	}
	shards := make(map[string]Answer, len(t.Shards))
	if config.State == Silent {
		for _, s := range t.Shards {
			shards[s.Name] = Answer{Last: t.Answering.Shards[s.Name].Last, Err: errConfigSilent}
		}
	} else {
		x.askShards(ctx, t, shards)
	}
	wg.Wait()
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	x.w.publish(func(t *Table) bool {
		was := t.Answering
		next := Answering{At: now, Config: config, Shards: shards, ReadOnly: readOnly, SetsErr: setsErr}
		if setsErr == nil {
			next.Sets = stillAway(sets, was.Sets, now)
		}
		t.Answering = next
		return !next.looks(was)
	})
}

var errConfigSilent = fault.New(fault.Unavailable, "The config servers do not answer, and without them mongos asks no shard.")

// askShards asks all shards at the same time.
func (x *answerWatch) askShards(ctx context.Context, t *Table, shards map[string]Answer) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range t.Shards {
		q, ok := x.question(t, s.Name)
		if !ok {
			mu.Lock()
			shards[s.Name] = Answer{Last: t.Answering.Shards[s.Name].Last, Err: x.whyNoQuestion(t, s.Name)}
			mu.Unlock()
			continue
		}
		wg.Go(func() {
			a := x.askTwice(ctx, t.Answering.Shards[s.Name], q)
			mu.Lock()
			defer mu.Unlock()
			shards[s.Name] = a
			if fault.Of(a.Err) == fault.Forbidden {
				x.refused[q.ns] = a.Err // the next turn asks for another collection
			}
		})
	}
	wg.Wait()
	// A shard that seems silent may be one that mongos did not ask, because the config servers stopped meanwhile.
	silent := slices.ContainsFunc(slices.Collect(maps.Values(shards)), func(a Answer) bool { return a.State == Silent })
	if silent && x.src.Ask(ctx, configAsked, bson.D{}, nil, false) != nil {
		for name, a := range shards {
			if a.State == Silent {
				shards[name] = Answer{Last: a.Last, Err: errConfigSilent}
			}
		}
	}
	maps.DeleteFunc(x.asked, func(shard string, _ question) bool { return t.Shard(shard) == nil })
	maps.DeleteFunc(x.refused, func(ns Namespace, _ error) bool { return t.Collection(ns) == nil })
}

// askTwice asks, and once more when there was no answer: one may be lost.
func (x *answerWatch) askTwice(ctx context.Context, was Answer, q question) Answer {
	began := time.Now()
	out := Answer{Last: was.Last}
	err := x.src.Ask(ctx, q.ns, q.filter, q.hint, false)
	var silent *NotAnsweredError
	if errors.As(err, &silent) {
		err = x.src.Ask(ctx, q.ns, q.filter, q.hint, false)
	}
	switch {
	case err == nil:
		out.State, out.Last = Answers, time.Now()
	case errors.As(err, &silent):
		out.State, out.Said, out.Since = Silent, silent.Said, began
		if was.State == Silent {
			out.Since = was.Since
		} else if !was.Last.IsZero() {
			out.Since = was.Last
		}
	default:
		out.Err = err
	}
	return out
}

// whyNoQuestion is why a shard is not asked; nil when it owns nothing to ask for.
func (x *answerWatch) whyNoQuestion(t *Table, shard string) error {
	for _, ns := range slices.Sorted(maps.Keys(x.refused)) {
		if c := t.Collection(ns); c != nil && c.Chunks.CountByShard()[shard] > 0 {
			return x.refused[ns]
		}
	}
	return nil
}

// stillAway takes over since when members are away.
func stillAway(sets, was []ReplicaSet, now time.Time) []ReplicaSet {
	for i, s := range sets {
		slices.SortFunc(s.Members, func(a, b Member) int { return cmp.Compare(a.Address, b.Address) })
		for j, m := range s.Members {
			if m.Reached {
				continue
			}
			sets[i].Members[j].Away = now
			for _, old := range was {
				for _, o := range old.Members {
					if old.Name == s.Name && o.Address == m.Address && !o.Away.IsZero() {
						sets[i].Members[j].Away = o.Away
					}
				}
			}
		}
	}
	slices.SortFunc(sets, func(a, b ReplicaSet) int { return cmp.Compare(a.Name, b.Name) })
	return sets
}

// looks tells whether two look the same to people: not the times of good answers, nor pings.
func (a Answering) looks(b Answering) bool {
	same := func(a, b Answer) bool {
		return a.State == b.State && a.Since.Equal(b.Since) && fault.Text(a.Err) == fault.Text(b.Err)
	}
	return a.At.IsZero() == b.At.IsZero() && a.ReadOnly == b.ReadOnly && same(a.Config, b.Config) &&
		maps.EqualFunc(a.Shards, b.Shards, same) && fault.Text(a.SetsErr) == fault.Text(b.SetsErr) &&
		slices.EqualFunc(a.Sets, b.Sets, func(a, b ReplicaSet) bool {
			return a.Name == b.Name && slices.EqualFunc(a.Members, b.Members, func(a, b Member) bool {
				a.Ping, b.Ping = 0, 0
				return a == b
			})
		})
}

// SetOf is the replica set of a shard, as mongos sees it; false when that is not known.
func (t *Table) SetOf(s Shard) (ReplicaSet, bool) {
	i := slices.IndexFunc(t.Answering.Sets, func(r ReplicaSet) bool { return r.Name == s.ReplSet })
	if i < 0 || s.ReplSet == "" {
		return ReplicaSet{}, false
	}
	return t.Answering.Sets[i], true
}

// ConfigSet is the replica set of the config servers: the only one that mongos watches and that is no shard's, or that
// of the shard which is a config server too. False when that is not known.
func (t *Table) ConfigSet() (ReplicaSet, bool) {
	if s := t.Shard("config"); s != nil {
		return t.SetOf(*s)
	}
	var found []ReplicaSet
	for _, r := range t.Answering.Sets {
		if !slices.ContainsFunc(t.Shards, func(s Shard) bool { return s.ReplSet == r.Name }) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return ReplicaSet{}, false
	}
	return found[0], true
}
