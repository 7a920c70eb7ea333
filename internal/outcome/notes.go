package outcome

import (
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
)

// Notes of an outcome, as catalogue codes.
const (
	NoteGathers    = "gathers"    // the purpose of the run was to gather writes on one shard
	NoteZones      = "zones"      // the balancer moves chunks, after the run
	NotePartial    = "partial"    // the windows were not counted completely
	NoteHottest    = "hottest"    // changed rows of the hottest projects only
	NoteAtLeast    = "atLeast"    // some writes could not be counted
	NoteAstray     = "astray"     // the chunk of some writes is unknown
	NoteMigrations = "migrations" // others moved chunks of the same collections
	NoteAgain      = "again"      // others moved the run's chunks again
	NoteTotal      = "total"      // all writes together changed
	NoteOnset      = "onset"      // the writes rose within the first window, which begins there
	NoteUndone     = "undone"     // the run was undone
	NoteUnreadable = "unreadable" // its stored measurements cannot be decoded
)

func (o *Outcome) addNotes(r engine.Run, s scope, in []CollectionRecord, again bool) {
	note := func(code string, is bool) {
		if is {
			o.Notes = append(o.Notes, code)
		}
	}
	cut := o.After.To.Sub(o.After.From) < Window // by an undo
	partly := o.Before.Covered < o.Before.Seconds() || o.After.Covered < o.After.Seconds()
	over := o.State != Running && o.State != TooEarly && o.State != Uncounted
	gathers := actions.Describe(r.Kind).Gathers
	note(NoteGathers, over && gathers && r.UndoOf == "")
	note(NoteZones, s.zonesOnly)
	note(NotePartial, over && o.State != SoFar && !cut && partly)
	var hottest, capped bool
	var astray, all float64
	for _, c := range in {
		for _, x := range []*Counts{c.Before, c.After} {
			if x != nil {
				hottest = hottest || x.Method == heat.ChangedRows
				capped = capped || x.Capped && x.Method == heat.NewRows
				astray, all = astray+x.Astray.Estimate, all+x.Total.Estimate
			}
		}
	}
	note(NoteHottest, hottest)
	note(NoteAtLeast, capped)
	note(NoteAstray, astray > 0.01*all)
	note(NoteMigrations, o.OtherMoves > 0)
	note(NoteAgain, again)
	note(NoteOnset, o.Before.Seconds() < Window.Seconds())
	ratio := o.After.Total.PerSecond / o.Before.Total.PerSecond
	note(NoteTotal, over && o.State != Idle && o.State != Few && (ratio < leastLeft || ratio > 1/leastLeft))
	note(NoteUndone, r.State == engine.Undone)
}

// Note is the text of a remark that is needed to interpret the figures.
func (o Outcome) Note(code string) message.Message {
	pattern := code
	switch code {
	case NoteGathers:
		pattern = "The purpose of this run was to gather writes on one shard: a higher share there is intended."
	case NoteZones:
		pattern = "This run set zones only. The balancer moves the chunks afterwards, perhaps after these windows."
	case NotePartial:
		pattern = "The windows were only partly counted: {before} before and {after} after, of {window} each. Rates refer to the time that " +
			"was counted."
	case NoteHottest:
		pattern = "Only rows of the hottest projects are counted in these collections: figures are lower bounds."
	case NoteAtLeast:
		pattern = "There were more writes than could be counted: figures are lower bounds."
	case NoteAstray:
		pattern = "More than one write in a hundred could not be assigned to a shard and is left out."
	case NoteMigrations:
		pattern = message.Plural(o.OtherMoves,
			"Somebody else moved a chunk of these collections in that time; part of the difference may be due to that.",
			"Others made {moves} moves in these collections in that time; part of the difference may be due to them.")
		if o.Verdict == Helped && o.Credit != (Credit{}) {
			pattern = message.Plural(o.OtherMoves,
				"Somebody else moved a chunk of these collections in that time; what it took from the shard is not counted for this run.",
				"Others made {moves} moves in these collections in that time; what they took from the shard is not counted for this run.")
		}
	case NoteAgain:
		pattern = "Others moved chunks of this run after it, in the time that is compared."
	case NoteOnset:
		pattern = "The time before the run begins at {since}, where the writes rose: before that they were less than half."
	case NoteTotal:
		pattern = "All writes together went from {totalBefore} to {totalAfter} rows/s; shares are of what there was each time."
	case NoteUndone:
		pattern = "The run has been undone since."
		if o.After.Seconds() > 0 && o.After.To.Sub(o.After.From) < Window {
			pattern = "The run has been undone since; the second window ends where the undo began."
		}
	case NoteUnreadable:
		pattern = "The measurements of this run cannot be read: their row in the database was changed."
	}
	return message.New("outcome.note."+code, pattern, seconds("before", o.Before.Covered), seconds("after", o.After.Covered),
		message.Coded("window", Window.String(), strconv.Itoa(int(Window.Seconds()))+" s"), message.Count("moves", o.OtherMoves),
		message.Words("since", format.Clock(o.Before.From)),
		message.Rate("totalBefore", o.Before.Total.PerSecond), message.Rate("totalAfter", o.After.Total.PerSecond))
}
