package cluster

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

const (
	// goneAfter is how long a process has to be missing before what it left is ended: one that does not reach the store
	// for a moment goes on reading the cluster.
	goneAfter = 30 * time.Second
	// cleanLooks is how many looks in a row have to find no cursor of a process that is gone: a shard may carry out what
	// reached it after it answered the first.
	cleanLooks = 2
)

// EndLeftCursors ends the cursors that reads of earlier processes of this installation left on the shards, until ctx
// ends: a process that is killed while a shard hangs leaves some, and the deletion of ranges waits for them. living are
// the processes that live, this one included; one that is no longer among them is looked for. It looks at most once
// in ten seconds, and not at all when no process has gone. Without inprog on the cluster it ends nothing: then such
// cursors end by themselves after ten minutes (cursorTimeoutMillis).
func (c *Client) EndLeftCursors(ctx context.Context, living func(context.Context) ([]string, error)) error {
	seen := map[string]time.Time{} // when a process was last known to live
	var last time.Time
	clean := 0
	for {
		var rows []openCursor
		var at time.Time
		looked := error(nil)
		if clean < cleanLooks {
			rows, at, looked = c.look(ctx)
		}
		ids, err := living(ctx) // after the look: a process says that it lives before it reads
		if err == nil {
			now := time.Now()
			for _, id := range ids {
				seen[id] = now
			}
			maps.DeleteFunc(seen, func(_ string, at time.Time) bool {
				gone := now.Sub(at) > goneAfter
				if gone {
					clean = 0
				}
				return gone
			})
		}
		switch {
		case fault.Of(looked) == fault.Forbidden:
			clean = cleanLooks
		case err != nil || looked != nil || !at.After(last): // not now; or none was needed; or it was counted already
		default:
			last = at
			if left := c.leftByOthers(rows, seen); len(left) == 0 {
				clean++
			} else {
				clean = 0
				c.endSessions(ctx, left)
			}
		}
		if err := clock.Sleep(ctx, cursorLookPause); err != nil {
			return err
		}
	}
}

// leftByOthers are the sessions of cursors whose process has gone.
func (c *Client) leftByOthers(rows []openCursor, living map[string]time.Time) (sessions []string) {
	own := c.o.Reader
	for _, k := range rows {
		r := k.reader
		_, lives := living[r.Process]
		if own.Installation != "" && r.Installation == own.Installation && r.Process != own.Process &&
			!lives && k.Session.ID != "" && !slices.Contains(sessions, k.Session.ID) {
			sessions = append(sessions, k.Session.ID)
		}
	}
	return sessions
}

// endSessions kills sessions of processes that have gone. What fails is tried again at the next look.
func (c *Client) endSessions(ctx context.Context, sessions []string) {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	p, err := c.use(ctx)
	if err != nil {
		return
	}
	defer p.release()
	ids := make(bson.A, 0, len(sessions))
	for _, id := range sessions {
		ids = append(ids, bson.D{{Key: "id", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(id)}}})
	}
	if _, err := p.run(ctx, "admin", bson.D{{Key: "killSessions", Value: ids}}); err != nil {
		c.log.Warn("cursors that an earlier shardboard left on the shards could not be ended; trying again", "sessions", len(ids), "err", err)
		return
	}
	c.log.Info("ended cursors that an earlier shardboard had left on the shards", "sessions", len(ids))
}
