package simcluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

// insertUnsharded inserts documents of 4 KiB into app.u, which is not sharded.
func (s *faultFixture) insertUnsharded(n int32) {
	s.t.Helper()
	docs := bson.A{}
	for i := range n {
		docs = append(docs, d("_id", i, "pad", strings.Repeat("x", 4096)))
	}
	mustRun(s.t, s.cluster, "app", d("insert", "u", "documents", docs))
}

// movePrimary sends movePrimary of app to shard-rs-2 in the background.
func (s *faultFixture) movePrimary() (result chan error) {
	result = make(chan error, 1)
	go func() { result <- s.run("admin", d("movePrimary", "app", "to", "shard-rs-2")) }()
	return result
}

func (s *faultFixture) primary() string {
	s.cluster.Catalog().Mu.RLock()
	defer s.cluster.Catalog().Mu.RUnlock()
	shard, _ := s.cluster.Catalog().Primary("app")
	return shard
}

func (s *faultFixture) count(coll string) int32 {
	s.t.Helper()
	return mustRun(s.t, s.cluster, "app", d("count", coll)).Lookup("n").Int32()
}

func codeOf(err error) int32 {
	var failed mongo.CommandError
	if errors.As(err, &failed) {
		return failed.Code
	}
	var written mongo.WriteException
	if errors.As(err, &written) && len(written.WriteErrors) > 0 {
		return int32(written.WriteErrors[0].Code)
	}
	return 0
}

func TestMovePrimaryRefusesWritesToWhatItMoves(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		s.insertUnsharded(2560)
		done := s.movePrimary()
		time.Sleep(100 * time.Millisecond)
		app := s.client.Database("app")
		_, inserted := app.Collection("u").InsertOne(s.t.Context(), d("_id", "new"))
		_, updated := app.Collection("u").UpdateByID(s.t.Context(), int32(1), d("$set", d("x", int32(1))))
		_, deleted := app.Collection("u").DeleteOne(s.t.Context(), d("_id", int32(1)))
		for what, err := range map[string]error{
			"insert": inserted, "update": updated, "delete": deleted,
			"findAndModify": app.Collection("u").FindOneAndDelete(s.t.Context(), d("_id", int32(1))).Err(),
			"create":        s.run("app", d("create", "v")),
			"createIndexes": s.run("app", d("createIndexes", "u", "indexes", bson.A{d("key", d("x", int32(1)), "name", "x")})),
			"dropIndexes":   s.run("app", d("dropIndexes", "u", "index", "*")),
			"drop":          s.run("app", d("drop", "u")),
			"rename":        s.run("admin", d("renameCollection", "app.u", "to", "app.v")),
			"dropDatabase":  s.run("app", d("dropDatabase", int32(1))),
		} {
			expect.Equal(s.t, codeOf(err), status.MovePrimaryInProgress, "%s: %v, want error 319", what, err)
		}
		if n := s.count("u"); n != 2560 {
			s.t.Errorf("a read during the move sees %d documents, want 2560", n)
		}
		if _, err := app.Collection("c").InsertOne(s.t.Context(), d("_id", "new", "p", int32(5))); err != nil {
			s.t.Errorf("a write to a sharded collection: %v", err)
		}
		must.Do(s.t, <-done)
		expect.NoError(s.t, must.Err(app.Collection("u").InsertOne(s.t.Context(), d("_id", "new"))), "a write after the move")
	})
}

func TestMovePrimaryLosesWritesBefore5(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		s.insertUnsharded(2560)
		done := s.movePrimary()
		time.Sleep(100 * time.Millisecond)
		must.Do(s.t, must.Err(s.client.Database("app").Collection("u").InsertOne(s.t.Context(), d("_id", "late"))))
		expect.Equal(s.t, s.count("u"), 2561, "documents after the write")
		must.Do(s.t, <-done)
		expect.Equal(s.t, s.count("u"), 2560, "documents after the move, want 2560: the late one is lost")
	}, func(o *Options) { o.ServerVersion = "4.4.29" })
}

func TestMovePrimaryGoesOnAfterItsTimeLimitAndIsJoined(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		s.insertUnsharded(2560)
		err := s.run("admin", d("movePrimary", "app", "to", "shard-rs-2", "maxTimeMS", int32(100)))
		must.That(s.t, codeOf(err) == status.MaxTimeMSExpired, "%v, want error 50", err)
		if err := s.run("admin", d("movePrimary", "app", "to", "shard-rs-3")); codeOf(err) != status.ConflictingOperationInProgress {
			s.t.Errorf("to another shard meanwhile: %v, want error 117", err)
		}
		must.Do(s.t, s.run("admin", d("movePrimary", "app", "to", "shard-rs-2")))
		log := s.primaryMoves()
		if p := s.primary(); p != "shard-rs-2" || log != "movePrimary.start movePrimary.commit" {
			s.t.Errorf("primary %s, log %s, want one move to shard-rs-2", p, log)
		}
	})
}

// primaryMoves lists what config.changelog says of movePrimary, in order.
func (s *faultFixture) primaryMoves() string {
	s.t.Helper()
	rows, _ := mustRun(s.t, s.cluster, "config", d("find", "changelog", "filter", d("ns", "app"))).
		Lookup("cursor", "firstBatch").Array().Values()
	var what []string
	for _, r := range rows {
		if w := r.Document().Lookup("what").StringValue(); strings.HasPrefix(w, "movePrimary") {
			what = append(what, w)
		}
	}
	return strings.Join(what, " ")
}

// A step-down while it copies ends a movePrimary. Its copies are in the way of the next one
// before 7.0.
func TestMovePrimaryAfterAStepDown(t *testing.T) {
	for version, leftovers := range map[string]bool{"5.0.7": true, "6.0.3": true, "7.0.5": false, "8.0.0": false} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(s *faultFixture) {
				s.insertUnsharded(10)
				s.cluster.Faults().Add(Rule{Command: "movePrimary", At: Committing, StepDown: true})
				if err := <-s.movePrimary(); codeOf(err) != status.InterruptedByStepDown {
					s.t.Fatalf("%v, want error 11602", err)
				}
				if p, n := s.primary(), s.count("u"); p != "shard-rs-1" || n != 10 {
					s.t.Errorf("the primary is %s with %d documents, want shard-rs-1 with 10", p, n)
				}
				want := int32(0)
				if leftovers {
					want = status.NamespaceExists
				}
				if err := <-s.movePrimary(); codeOf(err) != want {
					s.t.Errorf("again: %v, want error %d", err, want)
				}
			}, func(o *Options) { o.ServerVersion = version })
		})
	}
}

func TestTransactionDoesNotCommitWhatAMovePrimaryMoves(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		s.insertUnsharded(2560)
		session, err := s.client.StartSession()
		must.Do(s.t, err)
		defer session.EndSession(s.t.Context())
		ctx := mongo.NewSessionContext(s.t.Context(), session)
		must.Do(s.t, session.StartTransaction())
		must.Do(s.t, must.Err(s.client.Database("app").Collection("u").InsertOne(ctx, d("_id", "open"))))
		done := s.movePrimary()
		time.Sleep(100 * time.Millisecond)
		committed := session.CommitTransaction(ctx)
		must.Do(s.t, <-done)
		if n := s.count("u"); (committed == nil) != (n == 2561) {
			s.t.Errorf("the commit answered %s, and %d documents are there", fmt.Sprint(committed), n)
		}
	})
}
