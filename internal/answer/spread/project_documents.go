package spread

import (
	"context"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// DocumentLister reads the documents of a project.
type DocumentLister interface {
	Documents(context.Context, placement.Project, placement.DocumentPage) ([]placement.PlacedDocument, error)
}

// DocumentsQuery is a page of the documents of a project.
type DocumentsQuery struct{ placement.DocumentPage }

// Parameters are those of the address of the list.
func (q *DocumentsQuery) Parameters() param.List {
	return param.List{param.Text(&q.Prefix, "prefix", "only keys that begin so"), param.CursorBy(q.readCursor), param.Limit(&q.Limit)}
}

// ProjectDocuments lists the documents of one project by their keys. There is no list of all: no index leads
// to the documents of several projects in an order that pages could follow.
func ProjectDocuments(ctx context.Context, v answer.View, p *profile.Profile, l DocumentLister, of placement.Project,
	q DocumentsQuery) (out api.ProjectDocuments, err error) {
	out.Items = []api.ProjectDocument{}
	page, limit := q.DocumentPage, q.Limit
	ctx, cancel := context.WithTimeout(ctx, answer.LocateTimeout)
	defer cancel()
	page.Limit = limit + 1
	rows, err := l.Documents(ctx, of, page)
	if err != nil {
		return out, err
	}
	if len(rows) > limit {
		rows, out.Next = rows[:limit], nextDocument(rows, limit, page)
	}
	for _, row := range rows {
		out.Items = append(out.Items, projectDocument(row, p))
	}
	out.NS, out.Project, out.ProjectName = of.DB+"."+p.Keys.Collection, of.ID.Hex(), of.Name
	out.Documents = answer.FigureOf(of.Documents)
	out.AsOf = v.Now.UTC()
	_, out.Stale = answer.AsOf(v, topology.PartRouting)
	return out, nil
}

func projectDocument(row placement.PlacedDocument, p *profile.Profile) api.ProjectDocument {
	out := api.ProjectDocument{Key: row.Key, ID: row.Stored.Text(row.ID), Shards: row.Place.Shards, Exact: row.Place.Exact,
		Removed:   row.Removed,
		CreatedAt: api.Time(row.CreatedAt), UpdatedAt: api.Time(row.UpdatedAt)}
	if p.Keys.Seq != "" {
		out.Changes = &row.ServerSeq
	}
	if out.Shards == nil {
		out.Shards = []string{}
	}
	return out
}

// nextDocument is the cursor of the row at a position: its key, and how many rows before it have the same.
func nextDocument(rows []placement.PlacedDocument, at int, page placement.DocumentPage) api.Cursor {
	key, same := rows[at].Key, 0
	for same < at && rows[at-1-same].Key == key {
		same++
	}
	if same == at && key == page.From {
		same += page.Skip
	}
	return answer.CursorOf(strconv.Itoa(same) + " " + key)
}

// readCursor reads a cursor of nextDocument.
func (q *DocumentsQuery) readCursor(key string) (err error) {
	count, from, ok := strings.Cut(key, " ")
	if q.Skip, err = strconv.Atoi(count); !ok || err != nil || q.Skip < 0 {
		return fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	q.From, err = param.Checked("cursor", from)
	return err
}
