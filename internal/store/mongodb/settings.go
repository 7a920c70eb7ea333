package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fault"
)

type settingDoc struct {
	Name  string    `bson:"_id"`
	Value string    `bson:"value"`
	At    time.Time `bson:"at"`
}

// Setting returns a value.
func (db *DB) Setting(ctx context.Context, name string) (string, error) {
	d, err := one[settingDoc](ctx, db, "settings", eq("_id", name))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", fault.New(fault.NotFound, "The setting %s was never set.", name)
	}
	return d.Value, err
}

// SetSetting replaces a value.
func (db *DB) SetSetting(ctx context.Context, name, value string) error {
	return db.change(ctx, func(ctx context.Context) error {
		return db.upsert(ctx, "settings", eq("_id", name), settingDoc{name, value, stamp(time.Now())})
	})
}
