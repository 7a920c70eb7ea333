package web

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// sheet writes CSV whose cells a spreadsheet takes for text and never for a
// formula: names and keys come from strangers, and "=HYPERLINK(…)" is a legal
// document key.
type sheet struct {
	out *csv.Writer
}

func newSheet(w http.ResponseWriter, header ...string) sheet {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	s := sheet{out: csv.NewWriter(w)}
	s.row(header...)
	return s
}

func (s sheet) row(cells ...string) {
	for i := range cells {
		cells[i] = inert(cells[i])
	}
	_ = s.out.Write(cells) // kept and given back by done
}

func (s sheet) done() error {
	s.out.Flush()
	return fault.Wrap(fault.Internal, s.out.Error(), "The table could not be written as CSV.")
}

// starters are what spreadsheets take for the beginning of a formula, wide forms
// and the typographic minus included.
const starters = "=+-@|\uff1d\uff0b\uff0d\uff20\u2212"

// inert makes a cell that no spreadsheet runs: one line of visible characters,
// since a tab or line end would begin another cell where quotes are not heeded,
// and spaces are skipped; with an apostrophe before what would begin a formula.
// Numbers are left alone, negative ones too: they cannot do anything.
func inert(cell string) string {
	cell = sanitize.Line(cell)
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	if !strings.ContainsRune(starters, first) {
		return cell
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err == nil && first == '-' {
		return cell
	}
	return "'" + cell
}

// shardPageOrCSV serves a shard's page. Names that contain dots do not match
// the route of the CSV form, so it is looked for here once more; a shard that
// really is called "….csv" wins.
func (s *Site) shardPageOrCSV(w http.ResponseWriter, r *http.Request) error {
	name, err := pathText(r, "name")
	if err != nil {
		return err
	}
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	if base, ok := strings.CutSuffix(name, ".csv"); ok && v.Table.Shard(name) == nil && v.Table.Shard(base) != nil {
		return s.writeShardCSV(w, r, base)
	}
	return s.pageShard(w, r)
}

// shardCSV answers "it is sick: who is hit?" as a file for a ticket.
func (s *Site) shardCSV(w http.ResponseWriter, r *http.Request) error {
	name, err := pathText(r, "name")
	if err != nil {
		return err
	}
	return s.writeShardCSV(w, r, name)
}

func (s *Site) writeShardCSV(w http.ResponseWriter, r *http.Request, name string) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	if v.Table.Shard(name) == nil {
		return fault.New(fault.NotFound, "No shard is named %q (searched the %d shards of this cluster).", sanitize.Truncate(name, 100), len(v.Table.Shards))
	}
	contents := placement.ShardContents(v.Table, v.Dir, s.deps.Profile, name)
	out := newSheet(w, "kind", "shard", "ns", "project_id", "project_name", "db", "chunks", "chunks_of", "share", "bytes", "documents", "row_share_low", "row_share_high")
	w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(name)+`.csv"`)
	for _, c := range contents.Collections {
		rows := shareText(collectionOnOf(v.Table, c).RowShare)
		out.row("collection", name, string(c.NS), "", "", c.NS.Database(), strconv.Itoa(c.Chunks), strconv.Itoa(c.Of),
			shareText(shareOf(c.Share)), figureText(c.Size.Bytes), figureText(c.Size.Documents), rows, rows)
	}
	for _, p := range contents.Projects {
		rows := rowShareOf(p.Rows)
		for _, part := range p.Collections {
			out.row("project", name, string(part.NS), p.Project.ID.Hex(), p.Project.Name, p.Project.DB,
				strconv.Itoa(part.Chunks), strconv.Itoa(part.Of), shareText(shareOf(p.Share)), "", "", shareText(rows.Low), shareText(rows.High))
		}
	}
	return out.done()
}

func writeLocateCSV(w http.ResponseWriter, lines []api.LocateLine) error {
	out := newSheet(w, "line", "query", "kind", "id", "name", "project", "project_name", "ns", "shard", "shards", "state", "min", "max", "hash", "problem")
	w.Header().Set("Content-Disposition", `attachment; filename="locate.csv"`)
	for _, line := range lines {
		n := strconv.Itoa(line.Line)
		if line.Problem != nil {
			out.row(n, line.Query, "", "", "", "", "", "", "", "", "", "", "", "", line.Problem.Detail)
			continue
		}
		if len(line.Items) == 0 { // an id that is in no collection by itself
			kind, id := "", ""
			if len(line.Anatomy) > 0 {
				kind, id = line.Anatomy[0].Kind, line.Anatomy[0].ID
			}
			out.row(n, line.Query, kind, id, "", "", "", "", "", "", "unknown", "", "", "", "")
		}
		for _, it := range line.Items {
			for _, p := range it.Places {
				hash := ""
				if p.Hash != nil {
					hash = *p.Hash
				}
				out.row(n, line.Query, it.Kind, it.ID, it.Name, it.Project, it.ProjectName, p.NS, p.Shard,
					strings.Join(p.Shards, " "), p.State, string(p.Min), string(p.Max), hash, "")
			}
		}
	}
	return out.done()
}

// fileName keeps what is harmless in a header and on every file system.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, sanitize.Truncate(name, 100))
}

// figureText is empty for an unknown figure: a sheet that sums a column must
// not take it for zero.
func figureText(f topology.Figure) string {
	if !f.Known {
		return ""
	}
	return strconv.FormatInt(f.Value, 10)
}

func shareText(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', 4, 64)
}
