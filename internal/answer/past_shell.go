package answer

import (
	"sync"
	"time"

	"shardboard/internal/history"
)

// runs are ours of a time.
func (v View) OurRuns(from, to time.Time) []history.OurRun {
	if v.Runs == nil {
		return nil
	}
	return v.Runs(from, to)
}

// migrations are the moves that the table's changelog entries tell of.
func (v View) Migrations() []history.Migration {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	eras := v.Eras
	if eras == nil {
		eras = history.NowEras(v.Table)
	}
	t := *v.Table
	if v.Past != nil {
		t.Rounds = v.Past.Rounds
	}
	return settleFlights(v, history.Migrations(&t, v.Now, v.OurRuns(oldest, v.Now), eras))
}

// erasFor is how long the balancer's past settings are good for: they are read
// for a region that is drawn with every change.
const (
	ErasFor  = 30 * time.Second
	ErasWait = 2 * time.Second
)

// settledEras are the settings that were read last.
type SettledEras struct {
	Mu   sync.Mutex
	At   time.Time
	From time.Time
	Eras history.Eras
}
