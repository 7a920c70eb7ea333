package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/store"
)

// sealRows is schema 3: programs that do not seal what they write must not write any more. Seals come with the key.
func sealRows(context.Context, *DB) error { return nil }

// ResetSeals ends what was sealed by another key. Of several replicas that start at once, one does so.
func (db *DB) ResetSeals(ctx context.Context, r store.SealReset) (done bool, err error) {
	err = db.change(ctx, func(ctx context.Context) error {
		done = false
		same, err := db.exists(ctx, "settings", eq("_id", r.Setting, "value", r.Value))
		if err != nil || same {
			return err
		}
		if _, err := db.appendAudit(ctx, r.Entry); err != nil { // first, because that is where replicas meet
			return err
		}
		done = true
		for _, name := range []string{"sessions", requests} {
			if _, err := db.collection(name).DeleteMany(ctx, bson.D{}); err != nil {
				return err
			}
		}
		var list []approvalDoc
		cur, err := db.collection(approvals).Find(ctx, bson.D{})
		if err == nil {
			err = cur.All(ctx, &list)
		}
		if err != nil {
			return err
		}
		for _, d := range list {
			if seal, keep := r.Approval(d.approval()); keep {
				_, err = db.collection(approvals).UpdateOne(ctx, eq("plan", d.Plan), set("seal", seal))
			} else {
				_, err = db.collection(approvals).DeleteOne(ctx, eq("plan", d.Plan))
			}
			if err != nil {
				return err
			}
		}
		return db.upsert(ctx, "settings", eq("_id", r.Setting), settingDoc{r.Setting, r.Value, stamp(time.Now())})
	})
	return done && err == nil, err
}
