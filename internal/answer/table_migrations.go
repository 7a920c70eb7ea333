package answer

import (
	"time"

	"shardboard/internal/history"
)

// OurRuns are the runs of a time; none if no journal is kept.
func (v View) OurRuns(from, to time.Time) []history.OurRun {
	if v.Runs == nil {
		return nil
	}
	return v.Runs(from, to)
}

// Migrations are the moves in the table's changelog entries.
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
