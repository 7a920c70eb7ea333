package mongodb

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const approvals = "plan_approvals"

// makeApprovals makes the collection of schema 2.
func makeApprovals(ctx context.Context, db *DB) error {
	if err := db.data.CreateCollection(ctx, approvals); err != nil && !isNamespaceExists(err) {
		return fmt.Errorf("create %s: %w", approvals, err)
	}
	_, err := db.collection(approvals).Indexes().CreateMany(ctx, []mongo.IndexModel{
		index{fields: "plan", unique: true}.model(), index{fields: "cluster state until"}.model(),
	})
	if err != nil {
		return fmt.Errorf("create the indexes of %s: %w", approvals, err)
	}
	return nil
}

type approvalDoc struct {
	Plan    string    `bson:"plan"`
	Cluster string    `bson:"cluster"`
	State   string    `bson:"state"`
	Until   time.Time `bson:"until"`
	Body    []byte    `bson:"body"`
	Seal    []byte    `bson:"seal"`
}

func approvalDocOf(a store.ApprovalRecord) approvalDoc {
	return approvalDoc{a.Plan, a.Cluster, a.State, a.Until, bytesOf(a.Body), a.Seal}
}

func (d approvalDoc) approval() store.ApprovalRecord {
	return store.ApprovalRecord{Plan: d.Plan, Cluster: d.Cluster, State: d.State, Until: d.Until.UTC(), Body: d.Body, Seal: d.Seal}
}

// AddApproval stores the first record of a plan.
func (db *DB) AddApproval(ctx context.Context, a store.ApprovalRecord) error {
	if err := fits("The approval", a.Body); err != nil {
		return err
	}
	return db.change(ctx, func(ctx context.Context) error {
		if err := db.hasPlan(ctx, a.Plan); err != nil {
			return err
		}
		taken, err := db.exists(ctx, approvals, eq("plan", a.Plan))
		switch {
		case err != nil:
			return err
		case taken:
			return fault.New(fault.Conflict, "There is already a request to approve this plan.")
		}
		_, err = db.collection(approvals).InsertOne(ctx, approvalDocOf(a))
		return conflict(err, "There is already a request to approve this plan.")
	})
}

// SaveApproval adds the record of a plan or replaces it.
func (db *DB) SaveApproval(ctx context.Context, a store.ApprovalRecord) error {
	if err := fits("The approval", a.Body); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error {
		if err := db.hasPlan(ctx, a.Plan); err != nil {
			return err
		}
		return db.upsert(ctx, approvals, eq("plan", a.Plan), approvalDocOf(a))
	})
}

// hasPlan explains why a plan does not exist.
func (db *DB) hasPlan(ctx context.Context, id string) error {
	planned, err := db.exists(ctx, "plans", eq("_id", id))
	if err == nil && !planned {
		err = db.noPlan(ctx, id)
	}
	return err
}

// Approval returns the record of a plan.
func (db *DB) Approval(ctx context.Context, plan string) (store.ApprovalRecord, error) {
	d, err := one[approvalDoc](ctx, db, approvals, eq("plan", plan))
	if err != nil {
		return store.ApprovalRecord{}, missing(err, "Nobody was asked to approve this plan.")
	}
	return d.approval(), nil
}

// ApprovalsAsked returns requests that nobody has answered.
func (db *DB) ApprovalsAsked(ctx context.Context, cluster string, after time.Time, limit int) ([]store.ApprovalRecord, error) {
	if limit <= 0 {
		return nil, nil
	}
	filter := eq("cluster", cluster, "state", store.ApprovalAsked, "until", eq("$gt", after))
	return listAs(ctx, db, approvals, filter, approvalDoc.approval,
		options.Find().SetSort(bson.D{{Key: "until", Value: 1}, {Key: "plan", Value: 1}}).SetLimit(int64(limit)))
}
