package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

const (
	stormNS     = "yorkie-meta.changes"
	stormEvery  = 10 * time.Millisecond // a split: a hundred a second
	stormLooks  = 100 * time.Millisecond
	lagMillis   = 1000
	stormTimes  = 1.2 // processor time of a server that follows, of one that polls
	notFollowed = 13  // the code that a cursor at the end of the changelog is refused with
)

// measureStorm splits chunks beside two servers of the same cluster: one that follows the changelog, which it has to do
// when this begins, and one that is refused to.
func measureStorm(ctx context.Context, o Options, r *Report, sim *clusterProcess, follows *serverProcess) error {
	sim.cluster.Faults().Add(simcluster.Rule{Command: "find", Times: -1, At: simcluster.Received, Err: simcluster.Fail(notFollowed),
		Match: func(cmd bson.Raw) bool { return cmd.Lookup("tailable").Type == bson.TypeBoolean }})
	o.Sockets = 0
	polls, err := startServer(ctx, o, sim.uri)
	if err != nil {
		return err
	}
	defer polls.stop()
	if err := wait(ctx, settle); err != nil {
		return err
	}
	for server, want := range map[*serverProcess]bool{follows: true, polls: false} {
		var c struct{ Followed bool }
		if err := server.get(ctx, "cluster", &c); err != nil {
			return err
		}
		if c.Followed != want {
			return fmt.Errorf("that a server follows the changelog is %t, and should be %t", c.Followed, want)
		}
	}
	before := [2]time.Duration{}
	before[0], _ = follows.processorTime()
	before[1], _ = polls.processorTime()
	lags, err := splitAndLook(ctx, sim, [2]*serverProcess{follows, polls}, o.Storm)
	if err != nil {
		return err
	}
	took, known := follows.processorTime()
	other, _ := polls.processorTime()
	r.add("a hundred splits a second: longest until the API tells", lags[0].Seconds()*1000, "ms", lagMillis,
		fmt.Sprintf("%.0f ms where the changelog is polled", lags[1].Seconds()*1000))
	if !known {
		r.unknown("processor time of that, followed ÷ polled", "this system does not tell")
		return nil
	}
	took, other = took-before[0], other-before[1]
	r.add("processor time of that, followed ÷ polled", took.Seconds()/other.Seconds(), "", stormTimes,
		fmt.Sprintf("%.1f s and %.1f s", took.Seconds(), other.Seconds()))
	return nil
}

// splitAndLook splits for a while, and asks servers for the number of chunks meanwhile. It returns how long a split was
// not shown at most.
func splitAndLook(ctx context.Context, sim *clusterProcess, servers [2]*serverProcess, d time.Duration) (lags [2]time.Duration, err error) {
	base := [2]int{}
	for i, s := range servers {
		if base[i], err = s.chunks(ctx); err != nil {
			return lags, err
		}
	}
	var made []time.Time // when each split was there
	begun := time.Now()
	for looked := begun; time.Since(begun) < d; {
		if late := time.Until(begun.Add(time.Duration(len(made)) * stormEvery)); late > 0 {
			if err := wait(ctx, late); err != nil {
				return lags, err
			}
		}
		if err := sim.splitNext(ctx, len(made)); err != nil {
			return lags, err
		}
		made = append(made, time.Now())
		if time.Since(looked) < stormLooks {
			continue
		}
		looked = time.Now()
		for i, s := range servers {
			n, err := s.chunks(ctx)
			if err != nil {
				return lags, err
			}
			if shown := n - base[i]; shown < len(made) {
				lags[i] = max(lags[i], time.Since(made[shown]))
			}
		}
	}
	return lags, nil
}

// splitNext splits at a hash that no split had before.
func (p *clusterProcess) splitNext(ctx context.Context, n int) error {
	at := int64(uint64(n+1) * 0x9E3779B97F4A7C15) // spreads them over all keys
	_, err := p.cluster.Command(ctx, "admin", bson.D{
		{Key: "split", Value: stormNS}, {Key: "middle", Value: bson.D{{Key: "doc_id", Value: at}}},
	})
	return err
}

func (s *serverProcess) chunks(ctx context.Context) (int, error) {
	var c struct{ Chunks int }
	err := s.get(ctx, "collections/"+stormNS, &c)
	return c.Chunks, err
}

func (s *serverProcess) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/api/v1/"+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, res.Status)
	}
	return json.NewDecoder(res.Body).Decode(into)
}
