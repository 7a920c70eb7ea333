package enginetest

import (
	"sync/atomic"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/balance"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// upgradedTables show another release once the cluster is upgraded.
type upgradedTables struct {
	engine.Tables
	upgraded *atomic.Bool
}

const laterRelease = "8.0.12"

func (u upgradedTables) Table() *topology.Table {
	t := *u.Tables.Table()
	if u.upgraded.Load() {
		t.ServerInfo.Version = laterRelease
	}
	return &t
}

// What is on disk is what is sent, also when the cluster is upgraded to a release with another command in between.
func TestTheCommandOfTheIntentIsSent(t *testing.T) {
	var upgraded atomic.Bool
	s := Setup{Sim: simcluster.Options{ServerVersion: "8.0.9"}, Wrap: func(o *engine.Options) {
		o.Tables = upgradedTables{o.Tables,
			&upgraded}
	}}
	OnRig(t, s, func(r *Rig) {
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				upgraded.Store(true)
			}
			return nil
		})
		run := r.PlanAndRun(actions.BalanceCollection, actions.Args{NS: NS, On: off})
		sent, intents := r.Sent(run.ID), r.Disk.records().Intents
		if run.State != engine.Succeeded || len(sent) != 1 || len(intents) != 1 || !isPrefix(intents[0].Command, sent[0].Body) {
			r.Errorf("%s: sent %v, intents %v", run.State, sent, intents)
		}
		later, err := run.Steps[0].Step.Command(balance.ReleaseOf(laterRelease))
		if err != nil || !upgraded.Load() || later.Equal(run.Steps[0].Command) {
			r.Errorf("the release has no other command: %v, %v", later, err)
		}
	})
}
