package logbook

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// FailedMovesQuery chooses moves that failed, according to the changelog.
type FailedMovesQuery struct {
	NS       topology.Namespace // "" for all
	Internal bool               // with the server's own collections
}

// MigrationsQuery chooses moves that the changelog has.
type MigrationsQuery struct {
	FailedMovesQuery
	State history.Outcome // "" for all
	Limit int
	After movePlace // the last one of the page before
}

// movePlace is the place of a move in the list, which is newest first: when it began, and how many that began
// in the same millisecond come before it.
type movePlace struct {
	begin int64 // ms since 1970; 0 is the begin of the list
	same  int
}

func (p movePlace) cursor() api.Cursor {
	return answer.CursorOf(strconv.FormatInt(p.begin, 10) + "." + strconv.Itoa(p.same))
}

func (p *movePlace) read(key string) error {
	begin, same, _ := strings.Cut(key, ".")
	var err1, err2 error
	p.begin, err1 = strconv.ParseInt(begin, 10, 64)
	p.same, err2 = strconv.Atoi(same)
	if err1 != nil || err2 != nil || p.begin <= 0 || p.same < 0 {
		return fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	return nil
}

// next is the place of a move that follows this one in the list.
func (p movePlace) next(m history.Migration) movePlace {
	if begin := m.Begin.UnixMilli(); begin != p.begin {
		return movePlace{begin: begin}
	}
	return movePlace{begin: p.begin, same: p.same + 1}
}

// follows tells whether a place comes after another, newest first.
func (p movePlace) follows(o movePlace) bool {
	return o == movePlace{} || cmp.Or(cmp.Compare(p.begin, o.begin), cmp.Compare(o.same, p.same)) < 0
}

// Parameters are those of the address of the list of failures.
func (q *FailedMovesQuery) Parameters() param.List {
	return param.List{
		param.Text(&q.NS, "ns", "of this collection"),
		answer.ShowInternal(&q.Internal),
		param.Check(func() error {
			q.Internal = q.Internal || answer.AsksInternal(string(q.NS))
			return nil
		}),
	}
}

// Parameters are those of the address of the list.
func (q *MigrationsQuery) Parameters() param.List {
	return append(q.FailedMovesQuery.Parameters(),
		param.OneOf(&q.State, "state", "", history.Running, history.Committed, history.Done, history.Aborted, history.Unclear),
		param.CursorBy(q.After.read), param.Limit(&q.Limit))
}

// Migrations lists moves, newest first.
func Migrations(v answer.View, q MigrationsQuery) (api.LoggedList[api.Migration], error) {
	out := api.LoggedList[api.Migration]{ReadFrom: api.Time(v.Table.EventsBegin())}
	all, err := loggedMigrations(v, q.NS)
	if err != nil {
		return out, err
	}
	var last, at movePlace
	for _, m := range all {
		switch {
		case q.State != "" && q.State != m.Outcome:
			continue
		case !q.Internal && isFolded(m):
			out.Hidden++
			continue
		}
		switch at = at.next(m); {
		case !at.follows(q.After):
		case len(out.Items) < q.Limit:
			out.Items, last = append(out.Items, migrationOf(v, m)), at
		default:
			out.Next = last.cursor()
		}
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return out, nil
}

// MigrationFailures groups the moves that failed by reason, the most frequent
// first.
func MigrationFailures(v answer.View, q FailedMovesQuery) (api.LoggedList[api.MigrationFailures], error) {
	out := api.LoggedList[api.MigrationFailures]{ReadFrom: api.Time(v.Table.EventsBegin())}
	all, err := loggedMigrations(v, q.NS)
	if err != nil {
		return out, err
	}
	list, _ := withoutFolded(all, q.Internal)
	for _, m := range all {
		if m.Outcome == history.Aborted {
			out.Hidden++
		}
	}
	for _, g := range history.Failures(list) {
		out.Hidden -= g.Count // what remains was left out
		out.Items = append(out.Items, failuresOf(g))
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return out, nil
}

func loggedMigrations(v answer.View, ns topology.Namespace) ([]history.Migration, error) {
	if err := answer.CheckRead(v, topology.PartEvents, "The changelog entries"); err != nil {
		return nil, err
	}
	list := AllMigrations(v)
	if ns == "" {
		return list, nil
	}
	var out []history.Migration
	for _, m := range list {
		if m.NS == ns {
			out = append(out, m)
		}
	}
	return out, nil
}

// isFolded tells whether a move is left out unless internal collections are
// asked for. One that may still keep two shards busy never is.
func isFolded(m history.Migration) bool {
	return topology.IsInternal(m.NS) && m.Outcome != history.Running && m.Outcome != history.Committed
}

// withoutFolded leaves out the ended moves of the server's own collections, and
// says how many.
func withoutFolded(all []history.Migration, internal bool) (list []history.Migration, hidden int) {
	if internal {
		return all, 0
	}
	list = make([]history.Migration, 0, len(all))
	for _, m := range all {
		if !isFolded(m) {
			list = append(list, m)
		}
	}
	return list, len(all) - len(list)
}

// How many ended moves and how many reasons of failures the activity page shows.
const (
	movesShown   = 12
	reasonsShown = 10
)

// Moves are those that the changelog tells of: which have no end, how long the
// newest ended ones took, and why some failed.
//
// What may be under way is always shown, of whatever collection: it is what the
// two shards are busy with. Of what has ended, the server's own collections are
// left out unless internal is set.
func Moves(v answer.View, internal bool) api.Moves {
	out := api.Moves{Settled: flightsKnown(v)}
	list, hidden := withoutFolded(AllMigrations(v), internal)
	out.Hidden = hidden
	for _, m := range list {
		switch m.Outcome {
		case history.Running, history.Committed, history.Unclear:
			if !inFlight(v, m) { // those are listed with how far they are
				out.Running = append(out.Running, migrationOf(v, m))
			}
		default:
			if len(out.Ended) == movesShown {
				continue
			}
			out.Ended = append(out.Ended, migrationOf(v, m))
			if m.DonorSteps == len(donorStepNames) {
				out.Steps = donorStepNames
			}
		}
	}
	groups := history.Failures(list)
	for _, g := range groups[:min(len(groups), reasonsShown)] {
		out.Failures = append(out.Failures, failuresOf(g))
	}
	return out
}

// OurRuns are the runs of a time; none if no journal is kept.
func OurRuns(v answer.View, from, to time.Time) []history.OurRun {
	if v.Runs == nil {
		return nil
	}
	return v.Runs(from, to)
}

// AllMigrations are the moves in the table's changelog entries.
func AllMigrations(v answer.View) []history.Migration {
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
	return settleFlights(v, history.Migrations(&t, v.Now, OurRuns(v, oldest, v.Now), eras))
}
