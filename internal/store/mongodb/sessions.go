package mongodb

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type sessionDoc struct {
	ID      string    `bson:"_id"`
	Hash    []byte    `bson:"hash"` // SHA-256 of the secret
	Subject string    `bson:"subject"`
	Name    string    `bson:"name"`
	Role    string    `bson:"role"`
	Method  string    `bson:"method"`
	Origin  string    `bson:"origin"`
	Created time.Time `bson:"created"`
	Used    time.Time `bson:"used"`
	Expires time.Time `bson:"expires"`
	Stale   bool      `bson:"stale"`
	Former  []byte    `bson:"former_hash"` // of the session that this one replaced; null if of none
	Until   time.Time `bson:"former_until"`
	Groups  string    `bson:"issuer_groups"` // as store.TextOf writes them
	Seal    []byte    `bson:"seal"`
}

func (d sessionDoc) session() store.Session {
	return store.Session{ID: d.ID, Hash: d.Hash, Subject: d.Subject, Name: d.Name, Role: d.Role, Method: d.Method, From: d.Origin,
		Created: instant(d.Created), Used: instant(d.Used), Expires: instant(d.Expires), Stale: d.Stale, Former: instant(d.Until),
		Groups: store.ListOf(d.Groups), FormerHash: d.Former, Seal: d.Seal}
}

const noSession = "There is no such session; it may have ended."

// CreateSession stores a new session.
func (db *DB) CreateSession(ctx context.Context, s store.Session, replaces string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		if replaces != "" {
			if _, err := db.collection("sessions").DeleteOne(ctx, eq("_id", replaces)); err != nil {
				return err
			}
		}
		if err := db.insertSession(ctx, s, nil); err != nil {
			return err
		}
		if id, local := strings.CutPrefix(s.Subject, "user:"); local {
			_, err := db.collection("users").UpdateOne(ctx, eq("_id", id), set("last_login", stamp(s.Created)))
			return err
		}
		return nil
	})
}

// RotateSession replaces a session by another. Of many concurrent callers, at any replica, the one
// that deletes the document succeeds.
func (db *DB) RotateSession(ctx context.Context, old string, s store.Session, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		var former sessionDoc
		err := db.collection("sessions").FindOneAndDelete(ctx, eq("_id", old)).Decode(&former)
		if err != nil {
			return missing(err, noSession)
		}
		return db.insertSession(ctx, s, former.Hash)
	})
}

func (db *DB) insertSession(ctx context.Context, s store.Session, former []byte) error {
	_, err := db.collection("sessions").InsertOne(ctx, sessionDoc{ID: s.ID, Hash: s.Hash, Subject: s.Subject, Name: s.Name, Role: s.Role,
		Method: s.Method, Origin: s.From, Created: stamp(s.Created), Used: stamp(s.Used), Expires: stamp(s.Expires), Stale: s.Stale,
		Former: former, Until: stamp(s.Former), Groups: store.TextOf(s.Groups), Seal: s.Seal})
	return err
}

// Session returns a session by its id.
func (db *DB) Session(ctx context.Context, id string) (store.Session, error) {
	return db.oneSession(ctx, eq("_id", id))
}

// SessionByHash returns the session of a secret.
func (db *DB) SessionByHash(ctx context.Context, hash []byte) (store.Session, error) {
	return db.oneSession(ctx, eq("hash", hash))
}

// SessionByFormer returns the session that replaced the one of a secret.
func (db *DB) SessionByFormer(ctx context.Context, hash []byte) (store.Session, error) {
	if hash == nil {
		return store.Session{}, fault.New(fault.NotFound, noSession)
	}
	return db.oneSession(ctx, eq("former_hash", hash))
}

func (db *DB) oneSession(ctx context.Context, filter bson.D) (store.Session, error) {
	d, err := one[sessionDoc](ctx, db, "sessions", filter)
	return d.session(), missing(err, noSession)
}

// Sessions returns those of a subject, or all.
func (db *DB) Sessions(ctx context.Context, subject string) ([]store.Session, error) {
	filter := bson.D{}
	if subject != "" {
		filter = eq("subject", subject)
	}
	return listAs(ctx, db, "sessions", filter, sessionDoc.session, options.Find().SetSort(eq("created", -1, "_id", 1)))
}

// TouchSession stores the time of a use.
func (db *DB) TouchSession(ctx context.Context, id string, used time.Time) error {
	return db.change(ctx, func(ctx context.Context) error {
		_, err := db.collection("sessions").UpdateOne(ctx, eq("_id", id), set("used", stamp(used)))
		return err
	})
}

// EndSession deletes a session.
func (db *DB) EndSession(ctx context.Context, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		done, err := db.collection("sessions").DeleteOne(ctx, eq("_id", id))
		if err == nil && done.DeletedCount == 0 {
			err = fault.New(fault.NotFound, noSession)
		}
		return err
	})
}

// DropSessions deletes expired sessions and those from a time in the future. Any replica may do so.
func (db *DB) DropSessions(ctx context.Context, now, idle, ahead time.Time) (ids []string, err error) {
	over := eq("$or", bson.A{eq("expires", eq("$lte", stamp(now))), eq("used", eq("$lte", stamp(idle))),
		eq("used", eq("$gt", stamp(ahead))), eq("created", eq("$gt", stamp(ahead)))})
	// Seldom is there anything to delete, so this is looked at without a transaction first.
	_, err = one[sessionDoc](ctx, db, "sessions", over)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = db.change(ctx, func(ctx context.Context) error {
		if ids, err = db.sessionIDs(ctx, over); err != nil {
			return err
		}
		_, err = db.collection("sessions").DeleteMany(ctx, eq("_id", eq("$in", ids)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// sessionIDs lists the ids of sessions, in a transaction.
func (db *DB) sessionIDs(ctx context.Context, filter bson.D) (ids []string, err error) {
	var docs []struct {
		ID string `bson:"_id"`
	}
	cur, err := db.collection("sessions").Find(ctx, filter, options.Find().SetProjection(eq("_id", 1)))
	if err == nil {
		err = cur.All(ctx, &docs)
	}
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids, err
}
