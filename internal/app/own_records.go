package app

import (
	"context"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// ownRecords is the store as one cluster of several sees it. Lists are of one cluster anyway; here,
// plans and runs of another cluster are not found by their id either, so that nobody reaches them by
// way of a cluster that they may see.
type ownRecords struct {
	store.Store
	id func() string // of the cluster; "" before it is known
}

func (o *ownRecords) own(cluster string, what string) error {
	if cluster != o.id() {
		return fault.New(fault.NotFound, "This cluster has no such %s.", what)
	}
	return nil
}

// PlanRecord is a plan of this cluster.
func (o *ownRecords) PlanRecord(ctx context.Context, id string) (store.PlanRecord, error) {
	r, err := o.Store.PlanRecord(ctx, id)
	if err == nil {
		err = o.own(r.Cluster, "plan")
	}
	if err != nil {
		return store.PlanRecord{}, err
	}
	return r, nil
}

// RunRecord is a run of this cluster.
func (o *ownRecords) RunRecord(ctx context.Context, id string) (store.RunRecord, error) {
	return o.ownRun(o.Store.RunRecord(ctx, id))
}

// PlanRun is the run of a plan of this cluster.
func (o *ownRecords) PlanRun(ctx context.Context, plan string) (store.RunRecord, error) {
	return o.ownRun(o.Store.PlanRun(ctx, plan))
}

func (o *ownRecords) ownRun(r store.RunRecord, err error) (store.RunRecord, error) {
	if err == nil {
		err = o.own(r.Cluster, "run")
	}
	if err != nil {
		return store.RunRecord{}, err
	}
	return r, nil
}
