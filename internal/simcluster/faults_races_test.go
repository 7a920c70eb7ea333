package simcluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
)

func TestDuplicateDeliveryReturnsTheSecondReply(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		db, cmd := s.commandChangingState("split")
		s.cluster.Faults().Add(Rule{Command: "split", At: Received, Twice: true})
		err := s.run(db, cmd)
		if err == nil || !strings.Contains(err.Error(), "is a boundary key of existing chunk") {
			s.t.Errorf(`answered %v, want an error, …"is a boundary key of existing chunk"…`, err)
		}
		expect.Equal(s.t, len(s.changelog("split")), 2, "splits, one of them in the beginning")
		if n := len(s.cluster.Faults().Seen("split")); n != 1 {
			s.t.Errorf("seen %d times, want 1", n)
		}
	})
}

// Another client's change between check and commit is seen by the commit.
func TestCommitSeesAnotherClientsChange(t *testing.T) {
	key := func(v any) bson.D { return d("p", v) }
	for _, c := range []struct {
		name, command string
		at            Step
		do            func(context.Context, *Cluster) error
		code          int32 // 0: it works
		text          string
	}{
		{"split before merge", "mergeChunks", Committing, Other("admin", d("split", "app.c", "middle", key(50))), 0, ""},
		{"move before merge", "mergeChunks", Committing, Move("app.c", key(int32(100)), "shard-rs-3"), 20, "could not merge chunks"},
		{"same split before split", "split", Committing, Other("admin", d("split", "app.c", "middle", key(150))), 0, "boundary key"},
		{"drop before move", "moveChunk", Received, Other("app", d("drop", "c")), 118, ""},
		{"split before move", "moveChunk", Received, Other("admin", d("split", "app.c", "middle", key(150))), 0,
			"no chunk found with the shard key bounds"},
		{"move before move", "moveChunk", Targeted, Move("app.c", key(int32(100)), "shard-rs-3"), 0, ""},
		{"drop while moving", "moveChunk", Committing, Other("app", d("drop", "c")), 0, ""},
		{"migrations forbidden while moving", "moveChunk", Committing,
			Other("admin", d("setAllowMigrations", "app.c", "allowMigrations", false)), 117, "chunks cannot be moved"},
		{"a write while moving", "moveChunk", Committing, Other("app", d("insert", "c", "documents", bson.A{d("_id", "late", "p", 120)})), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(s *faultFixture) {
				t := s.t
				db, cmd := s.commandChangingState(c.command)
				s.cluster.Faults().Add(Rule{Command: c.command, At: c.at, Do: c.do})
				err := s.run(db, cmd)
				var failed mongo.CommandError
				errors.As(err, &failed)
				if works := c.code == 0 && c.text == ""; works != (err == nil) || failed.Code != c.code || !strings.Contains(failed.Message, c.text) {
					t.Errorf("answered %d %v", failed.Code, err)
				}
				hits := s.cluster.Faults().Hits()
				expect.That(t, len(hits) == 1 && hits[0].DoErr() == nil, "hits %+v, want len 1", hits)
				if c.name == "a write while moving" {
					reply := mustRun(t, s.cluster, "app", d("count", "c", "query", d("p", d("$gte", 0))))
					if n, _ := reply.Lookup("n").AsInt64OK(); n != 201 {
						t.Errorf("%d documents, want 201", n)
					}
				}
			})
		})
	}
}
