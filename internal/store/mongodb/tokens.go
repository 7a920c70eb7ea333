package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type tokenDoc struct {
	ID      string    `bson:"_id"`
	Hash    []byte    `bson:"hash"` // SHA-256 of the secret
	Name    string    `bson:"name"`
	Role    string    `bson:"role"`
	Owner   string    `bson:"owner"`
	Created time.Time `bson:"created"`
	Expires time.Time `bson:"expires"`
	Used    time.Time `bson:"used"`
	Revoked time.Time `bson:"revoked"`

	Clusters    string `bson:"clusters"`     // as store.TextOf writes them, so that copies are the same in every store
	OwnerRole   string `bson:"owner_role"`   // when the token was made
	OwnerGroups string `bson:"owner_groups"` // likewise
}

func (d tokenDoc) token() store.Token {
	return store.Token{ID: d.ID, Hash: d.Hash, Name: d.Name, Role: d.Role, Owner: d.Owner, Created: instant(d.Created),
		Expires: instant(d.Expires), Used: instant(d.Used), Revoked: instant(d.Revoked),
		Clusters: store.ClustersOf(d.Clusters), OwnerRole: d.OwnerRole, OwnerGroups: store.ListOf(d.OwnerGroups)}
}

const noToken = "There is no such token."

// CreateToken stores an API key.
func (db *DB) CreateToken(ctx context.Context, t store.Token, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		_, err := db.collection("tokens").InsertOne(ctx, tokenDoc{t.ID, t.Hash, t.Name, t.Role, t.Owner, stamp(t.Created),
			stamp(t.Expires), stamp(t.Used), stamp(t.Revoked), store.TextOf(t.Clusters), t.OwnerRole, store.TextOf(t.OwnerGroups)})
		return err
	})
}

// Token returns a token by its id.
func (db *DB) Token(ctx context.Context, id string) (store.Token, error) {
	d, err := one[tokenDoc](ctx, db, "tokens", eq("_id", id))
	return d.token(), missing(err, noToken)
}

// TokenByHash returns the token of a secret.
func (db *DB) TokenByHash(ctx context.Context, hash []byte) (store.Token, error) {
	d, err := one[tokenDoc](ctx, db, "tokens", eq("hash", hash))
	return d.token(), missing(err, noToken)
}

// Tokens returns those of an owner, or all.
func (db *DB) Tokens(ctx context.Context, owner string) ([]store.Token, error) {
	filter := bson.D{}
	if owner != "" {
		filter = eq("owner", owner)
	}
	return listAs(ctx, db, "tokens", filter, tokenDoc.token, options.Find().SetSort(eq("created", -1, "_id", 1)))
}

// TouchToken stores the time of a use.
func (db *DB) TouchToken(ctx context.Context, id string, used time.Time) error {
	return db.change(ctx, func(ctx context.Context) error {
		_, err := db.collection("tokens").UpdateOne(ctx, eq("_id", id), set("used", stamp(used)))
		return err
	})
}

// RevokeToken permanently ends a token.
func (db *DB) RevokeToken(ctx context.Context, id string, at time.Time, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		var d tokenDoc
		if err := db.collection("tokens").FindOne(ctx, eq("_id", id)).Decode(&d); err != nil {
			return missing(err, noToken)
		}
		if !instant(d.Revoked).IsZero() {
			return fault.New(fault.Conflict, "This token is already revoked.")
		}
		_, err := db.collection("tokens").UpdateOne(ctx, eq("_id", id), set("revoked", stamp(at)))
		return err
	})
}
