package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type userDoc struct {
	ID         string    `bson:"_id"`
	Name       string    `bson:"name"`
	Role       string    `bson:"role"`
	Password   string    `bson:"password"` // encoded argon2id hash
	BreakGlass bool      `bson:"break_glass"`
	Disabled   bool      `bson:"disabled"`
	Created    time.Time `bson:"created"`
	LastLogin  time.Time `bson:"last_login"`
}

func (d userDoc) user() store.User {
	return store.User{ID: d.ID, Name: d.Name, Role: d.Role, Password: d.Password, BreakGlass: d.BreakGlass, Disabled: d.Disabled,
		Created: instant(d.Created), LastLogin: instant(d.LastLogin)}
}

// CreateUser adds an account.
func (db *DB) CreateUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error { return db.createUser(ctx, u) })
}

// CreateFirstUser adds an account if there is none. Two replicas cannot both do so: their audit
// entries conflict, and the later one then sees the account.
func (db *DB) CreateFirstUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		exists, err := db.exists(ctx, "users", eq("break_glass", false))
		if err != nil {
			return err
		}
		if exists {
			return fault.New(fault.Conflict, "Users exist already, so the first admin cannot be created.")
		}
		return db.createUser(ctx, u)
	})
}

func (db *DB) createUser(ctx context.Context, u store.User) error {
	taken, err := db.exists(ctx, "users", eq("name", u.Name))
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "The user %s already exists. Accounts are never removed, so names cannot be reused.", u.Name)
	}
	if u.BreakGlass {
		if taken, err = db.exists(ctx, "users", eq("break_glass", true)); err != nil {
			return err
		}
		if taken {
			return fault.New(fault.Conflict, "A break-glass account already exists; set its password instead.")
		}
	}
	_, err = db.collection("users").InsertOne(ctx,
		userDoc{u.ID, u.Name, u.Role, u.Password, u.BreakGlass, u.Disabled, stamp(u.Created), stamp(u.LastLogin)})
	return err
}

// exists reports whether a filter finds a document, in a transaction.
func (db *DB) exists(ctx context.Context, collection string, filter bson.D) (bool, error) {
	err := db.collection(collection).FindOne(ctx, filter, options.FindOne().SetProjection(eq("_id", 1))).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, err
}

const noUser = "There is no such user."

// User returns an account by its id.
func (db *DB) User(ctx context.Context, id string) (store.User, error) {
	d, err := one[userDoc](ctx, db, "users", eq("_id", id))
	return d.user(), missing(err, noUser)
}

// UserByName returns an account by its name.
func (db *DB) UserByName(ctx context.Context, name string) (store.User, error) {
	d, err := one[userDoc](ctx, db, "users", eq("name", name))
	return d.user(), missing(err, noUser)
}

// Users returns all accounts by name.
func (db *DB) Users(ctx context.Context) ([]store.User, error) {
	return listAs(ctx, db, "users", bson.D{}, userDoc.user, options.Find().SetSort(eq("name", 1)))
}

// ChangeUser changes an account, ends sessions and records it, all or nothing.
func (db *DB) ChangeUser(ctx context.Context, id string, c store.UserChange, e store.AuditEntry) (ended []string, err error) {
	err = db.changeAudited(ctx, e, func(ctx context.Context) error {
		ended, err = db.changeUser(ctx, id, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

func (db *DB) changeUser(ctx context.Context, id string, c store.UserChange) (ended []string, err error) {
	var changes []any
	if c.Role != nil {
		changes = append(changes, "role", *c.Role)
	}
	if c.Password != nil {
		changes = append(changes, "password", *c.Password)
	}
	if c.Disabled != nil {
		changes = append(changes, "disabled", *c.Disabled)
	}
	if len(changes) == 0 {
		return nil, errors.New("change user: nothing to change")
	}
	done, err := db.collection("users").UpdateOne(ctx, eq("_id", id), set(changes...))
	switch {
	case err != nil:
		return nil, err
	case done.MatchedCount == 0:
		return nil, fault.New(fault.NotFound, noUser)
	}
	if err := db.keepOne(ctx, c.Keep); err != nil {
		return nil, err
	}
	if c.End != "" {
		filter := eq("subject", c.End)
		if ended, err = db.sessionIDs(ctx, filter); err != nil {
			return nil, err
		}
		if _, err := db.collection("sessions").DeleteMany(ctx, filter); err != nil {
			return nil, err
		}
	}
	if c.Instead != nil {
		if err := db.insertSession(ctx, *c.Instead, nil); err != nil {
			return nil, err
		}
	}
	if c.Revoke != "" {
		_, err := db.collection("tokens").UpdateMany(ctx, eq("owner", c.Revoke, "revoked", stamp(time.Time{})), set("revoked", stamp(c.RevokeAt)))
		if err != nil {
			return nil, err
		}
	}
	if c.Rotate != "" {
		stale, err := db.sessionIDs(ctx, eq("subject", c.Rotate))
		if err != nil {
			return nil, err
		}
		if _, err := db.collection("sessions").UpdateMany(ctx, eq("subject", c.Rotate), set("stale", true)); err != nil {
			return nil, err
		}
		ended = append(ended, stale...)
	}
	return ended, nil
}

func (db *DB) keepOne(ctx context.Context, role string) error {
	if role == "" {
		return nil
	}
	left, err := db.exists(ctx, "users", eq("role", role, "disabled", false, "break_glass", false))
	if err == nil && !left {
		return fault.New(fault.Conflict, "This is the last enabled %s, so nobody could undo the change. Create another one first.", role)
	}
	return err
}
