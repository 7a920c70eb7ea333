package mongodb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

// replicas has a document for each process that has the store open. A process that is killed in the
// middle of a transaction leaves it open on the server for a minute, and everything that it wrote is
// locked so long: the end of the audit record too, without which nobody can sign in. So the session
// of its transactions is written here, and the leader ends it when the process no longer shows that
// it lives.
const replicas = "replicas"

type replicaDoc struct {
	ID      string   `bson:"_id"` // id of an opening
	Name    string   `bson:"name"`
	Session bson.Raw `bson:"session"` // of its transactions
	Schema  int      `bson:"schema"`  // that it knows
	Beat    int64    `bson:"beat"`    // number of the last one
	Silent  int64    `bson:"silent"`  // milliseconds since it was seen, computed by the server when it is read
}

// transactionTime is how long a server keeps an open transaction whose client is gone
// (transactionLifetimeLimitSeconds), and some more.
const transactionTime = 90 * time.Second

// register writes down the session of this process's transactions.
func (db *DB) register(ctx context.Context, session bson.Raw) error {
	db.ownSession.Store(&session)
	return db.show(ctx)
}

// show writes that this process lives, now. All of it is written each time: the leader deletes the
// document of a process that was paused for long.
func (db *DB) show(ctx context.Context) error {
	fields := bson.D{{Key: "name", Value: literal(store.ProcessName())}, {Key: "seen", Value: "$$NOW"},
		{Key: "schema", Value: literal(len(db.o.migrations))}, {Key: "beat", Value: literal(db.beats.Load())}}
	if s := db.ownSession.Load(); s != nil {
		fields = append(fields, bson.E{Key: "session", Value: literal(*s)})
	}
	_, err := db.collection(replicas).UpdateOne(ctx, bson.D{{Key: "_id", Value: db.id}},
		bson.A{bson.D{{Key: "$set", Value: fields}}}, options.UpdateOne().SetUpsert(true))
	return err
}

// prove writes that this process lives, in a transaction as everything else is written, and reads it back.
// That alone shows whether something can be stored: a lease can be kept while no transaction succeeds.
func (db *DB) prove(ctx context.Context) error {
	if db.state.refused() != nil {
		return db.show(ctx)
	}
	n := db.beats.Add(1)
	err := db.transact(ctx, db.o.Timeout, func(ctx context.Context) error {
		if err := db.show(ctx); err != nil {
			return err
		}
		// The end of the audit record too: when that is locked, nobody can sign in.
		_, err := db.collection(counters).UpdateOne(ctx, eq("_id", auditEnd), set("beat", n, "by", db.id))
		return err
	})
	if err == nil {
		err = db.readBack(ctx, n)
	}
	if db.state.refused() == nil && ctx.Err() != context.Canceled {
		db.state.proven(db.unproven(err))
	}
	return err
}

// unproven is the trouble that a test write has shown; nil without an error.
func (db *DB) unproven(err error) *store.Trouble {
	if err == nil {
		return nil
	}
	t, ok := store.TroubleOf(err)
	if !ok {
		t, ok = db.troubleOf(err)
	}
	if !ok {
		t = db.unreachable(err)
		t.Cause = fmt.Sprintf("A test write to the database %s failed (%s).", db.address, brief(err))
	}
	return &t
}

// readBack reads the beat that was written last.
func (db *DB) readBack(ctx context.Context, n int64) error {
	ctx, cancel := db.within(ctx)
	defer cancel()
	var d replicaDoc
	err := db.collection(replicas).FindOne(ctx, bson.D{{Key: "_id", Value: db.id}}).Decode(&d)
	if err == nil && d.Beat < n {
		err = fmt.Errorf("write %d was acknowledged, and %d is stored", n, d.Beat)
	}
	return err
}

// beatUntil proves every third of a lease that this process can write, more often while it cannot, until
// ctx ends. It is a goroutine of its own, so that a write that takes long does not hold up the lease.
func (db *DB) beatUntil(ctx context.Context) {
	for {
		if !db.o.skipRenewal() {
			db.beat(ctx)
		}
		wait := db.o.Lease / 3
		if db.Trouble() != nil {
			wait = db.o.Lease / 10
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// beat shows that this process lives. The leader looks at the others: it ends the sessions of those
// that were not seen for the time of a lease, and makes room for one that has come to upgrade the store.
func (db *DB) beat(ctx context.Context) {
	if db.prove(ctx) != nil || !db.Leads() {
		return
	}
	others, err := db.otherReplicas(ctx)
	if err != nil {
		return
	}
	for _, r := range others {
		switch {
		case r.lives(db.o.Lease):
			if r.Schema > len(db.o.migrations) {
				db.makeRoom(ctx, r)
			}
		case db.endSession(ctx, r) == nil || r.Silent > transactionTime.Milliseconds():
			_, _ = db.collection(replicas).DeleteOne(ctx, bson.D{{Key: "_id", Value: r.ID}})
		}
	}
}

// otherReplicas are the processes that have the store open, or had and did not close it.
func (db *DB) otherReplicas(ctx context.Context) (out []replicaDoc, err error) {
	ctx, cancel := db.within(ctx)
	defer cancel()
	cur, err := db.collection(replicas).Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: eq("_id", eq("$ne", db.id))}},
		bson.D{{Key: "$addFields", Value: eq("silent", eq("$subtract", bson.A{"$$NOW", "$seen"}))}},
	})
	if err == nil {
		err = cur.All(ctx, &out)
	}
	return out, db.failed(ctx, err)
}

// Opening is the id of this opening.
func (db *DB) Opening() string { return db.id }

// Living are the replicas that were seen within the time of a lease, this one included.
func (db *DB) Living(ctx context.Context) ([]string, error) {
	others, err := db.otherReplicas(ctx)
	if err != nil {
		return nil, err
	}
	ids := []string{db.id}
	for _, r := range others {
		if r.lives(db.o.Lease) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// lives reports whether a replica was seen within the time of a lease.
func (r replicaDoc) lives(lease time.Duration) bool { return r.Silent < lease.Milliseconds() }

// makeRoom gives the lease up for a newer shardboard that waits for it to upgrade the store, so that
// replicas can be replaced one by one. This process goes on serving pages and stores nothing any more
// once the other one leads.
func (db *DB) makeRoom(ctx context.Context, r replicaDoc) {
	db.o.Log.Warn("a newer shardboard has come to upgrade the store; the lead is left to it", "store", db.address, "newer", r.Name)
	db.giveUp(ctx)
}

// newerWaits reports whether a newer shardboard waits for the lease to upgrade the store.
func (db *DB) newerWaits(ctx context.Context) bool {
	others, err := db.otherReplicas(ctx)
	return err == nil && slices.ContainsFunc(others, func(r replicaDoc) bool {
		return r.Schema > len(db.o.migrations) && r.lives(db.o.Lease)
	})
}

// endSessionsOf ends the transactions of one replica.
func (db *DB) endSessionsOf(ctx context.Context, id string) {
	r, err := one[replicaDoc](ctx, db, replicas, bson.D{{Key: "_id", Value: id}})
	if err == nil {
		_ = db.endSession(ctx, r) // logged
	}
}

// endSession ends the session of a replica, if it is of the same user: nobody needs a privilege to
// end sessions of their own. If it cannot be ended, its transaction ends after a minute.
func (db *DB) endSession(ctx context.Context, r replicaDoc) error {
	if len(r.Session) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := db.client.Database("admin").RunCommand(ctx, bson.D{{Key: "killSessions", Value: bson.A{r.Session}}}).Err()
	if err != nil && !db.endingFailed.Swap(true) { // again and again where the server does not have the command
		db.o.Log.Warn("the session of a replica that is gone could not be ended; what it left open may be in the way for a minute",
			"store", db.address, "replica", r.Name, "err", err)
	}
	return err
}
