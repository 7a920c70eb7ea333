package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sheet"
)

// staleSoon is an age that does not sound stale: then the failed read is named instead.
const staleSoon = 5 * time.Second

// remarks say what the rows do not: what is missing, and how old the data is.
func (t *tableLines) remarks(last listPage, now time.Time) []string {
	var hidden int
	last.read("hidden", &hidden)
	out := t.howMany(last)
	out = append(out, about(last)...)
	if hidden > 0 {
		out = append(out, fmt.Sprintf("Of the server's own collections, not shown: %s. --internal shows them.", format.Count(int64(hidden))))
	}
	var asOf time.Time
	var stale bool
	last.read("asOf", &asOf)
	last.read("stale", &stale)
	if text := staleText(asOf, stale, now); text != "" {
		out = append(out, text)
	}
	if left := t.table.leftOut(); len(left) > 0 {
		out = append(out, "Columns that do not fit: "+strings.Join(slices.Compact(left), ", ")+". --output wide shows all.")
	}
	return out
}

// howMany says that there are no rows, and why, or that there are more.
func (t *tableLines) howMany(last listPage) (out []string) {
	var why, state string
	var problems api.ProblemSummary
	var started *time.Time
	last.read("why", &why)
	last.read("summary", &problems)
	last.read("state", &state)
	last.read("started", &started)
	switch {
	case problems.Headline != "":
		out = append(out, problems.Headline)
		if problems.Unchecked > 0 {
			out = append(out, "Rules that could not be checked completely: "+format.Count(int64(problems.Unchecked))+". --output json says why.")
		}
	case t.shown == 0 && why != "":
		out = append(out, why)
	case t.shown == 0 && state != "" && started == nil:
		out = append(out, "Not known: this was not checked yet.")
	case t.shown == 0 && state == "running":
		out = append(out, "None so far: the check is running.")
	case t.shown == 0:
		out = append(out, "None.")
	case last.full:
		out = append(out, fmt.Sprintf("There may be more than these %s, which are all that the API lists.", format.Count(int64(t.shown))))
	case last.next() != "" || last.cut:
		out = append(out, fmt.Sprintf("The first %s are shown; --all shows every one.", format.Count(int64(t.shown))))
	}
	return out
}

// about says what some lists are made of, and what they lack.
func about(last listPage) (out []string) {
	var incomplete, by string
	var byDocument []string
	var readFrom *time.Time
	var documents api.Figure
	var more int
	last.read("more", &more)
	last.read("incomplete", &incomplete)
	last.read("byDocument", &byDocument)
	last.read("readFrom", &readFrom)
	last.read("documents", &documents)
	last.read("by", &by)
	if incomplete != "" {
		out = append(out, "Incomplete: "+incomplete)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("Smaller collections that are left out: %s. shardboard get collections lists all.",
			format.Count(int64(more))))
	}
	if len(byDocument) > 0 {
		out = append(out, "Not placed by project, so that any of their chunks may hold rows of it: "+strings.Join(byDocument, ", ")+".")
	}
	if readFrom != nil {
		out = append(out, fmt.Sprintf("Made of the changelog since %s; shardboard get activity --kind move shows what came before.",
			format.Stamp(*readFrom)))
	}
	if documents.Value != nil {
		out = append(out, "Documents of this project that are not removed, as Yorkie counts them: "+
			sheet.Text("documents", reflect.ValueOf(documents))+".")
	}
	units := map[string]string{data.OfBytes: "bytes", data.OfDocuments: "documents", data.OfWrites: "writes per second"}
	if unit := units[by]; unit != "" {
		out = append(out, "HERE, EVEN and DIFFERENCE are "+unit+".")
	}
	return out
}

// staleText says how old an answer is that is not of now; "" for others.
func staleText(asOf time.Time, stale bool, now time.Time) string {
	switch {
	case !stale:
		return ""
	case asOf.IsZero():
		return "Stale: nothing was read yet."
	case now.Sub(asOf).Abs() < staleSoon:
		return "Stale: the last read of the cluster failed or is overdue."
	}
	return fmt.Sprintf("Stale: last read %s (%s).", format.Ago(now.Sub(asOf)), format.Stamp(asOf))
}
