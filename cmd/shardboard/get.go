package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"shardboard/internal/answer/shares"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// getCmd shows what the API answers.
type getCmd struct {
	Resources kong.Plugins `embed:""` // of getCommands
}

// Help tells how the commands below it are alike.
func (getCmd) Help() string {
	return "One object is chosen by its name: get shard NAME, or get shards/NAME. --server asks a running server; --uri asks the " +
		"cluster itself, once. Both give the same answer, but history, counted writes and runs are known to a server only.\n\n" +
		"A table in a terminal has the first 100 rows (--all: every row) and the columns that fit (--output wide: every column). JSON, " +
		"CSV and what goes to a pipe are complete. NO_COLOR switches colours off. Unknown numbers are \"unknown\", ≈ marks an estimate."
}

// getResource shows one resource.
type getResource struct {
	resource resource
	Asked    kong.Plugins `embed:""` // of askedFlags
	getFlags `embed:""`
}

// getFlags are the flags of all resources.
type getFlags struct {
	Output   string        `short:"o" enum:"table,wide,json,csv" default:"table" help:"table; wide, with all columns; json or csv, as the API writes them."`
	Limit    int           `placeholder:"N" help:"Most rows to show."`
	All      bool          `help:"Show all rows in a terminal too, not only the first 100."`
	Watch    bool          `short:"w" help:"Show the answer again whenever it changes, until Ctrl-C. In a pipe: one line of JSON for each change; with --output csv the rows that are new or have changed."`
	Interval time.Duration `default:"2s" help:"How often --watch asks; at least 500ms."`

	sourceFlags `embed:""`
}

// Run shows the resource.
func (c getResource) Run(e *env) (err error) {
	q, err := c.query(time.Now())
	if err != nil {
		return err
	}
	s, err := c.open(e, c.resource.server)
	if err != nil {
		return err
	}
	defer s.close(e.ctx)
	if q.output == "table" || q.output == "wide" {
		q.words = s.remote.Words(e.ctx)
	}
	if q, err = q.named(e.ctx, s.remote); err != nil {
		return err
	}
	if c.resource.name == "clusters" {
		defer func() { err = oneCluster(err, s.remote) }()
	}
	if c.Watch {
		return ended((&watch{env: e, source: s, query: q, every: c.Interval, to: q.changes(e, c.Interval)}).run())
	}
	err = q.show(e, s.remote)
	if err == nil && c.resource.name == "map" && q.isList() && e.out.tty && q.output == "table" {
		err = q.drawMap(e, s.remote)
	}
	return ended(err)
}

// oneCluster says why a server has no list of clusters.
func oneCluster(err error, remote app.Remote) error {
	if fault.Of(err) != fault.NotFound {
		return err
	}
	return fault.Wrap(fault.NotFound, err, "The server at %s watches one cluster, or is older: shardboard get cluster shows it.", remote)
}

// ended makes nothing of the error that nobody reads the output any more.
func ended(err error) error {
	var file *os.PathError // and no network connection
	if errors.As(err, &file) && errors.Is(file, syscall.EPIPE) {
		return nil
	}
	return err
}

// query is what to show and how.
type query struct {
	resource resource
	question app.Question
	path     string // address
	filters  url.Values
	output   string
	limit    int // rows; 0 is all that there are
	all      bool
	words    app.Words // of tables
}

// query checks the arguments before anything is asked.
func (c getResource) query(now time.Time) (query, error) {
	q := query{resource: c.resource, output: c.Output, limit: c.Limit, all: c.All}
	switch {
	case c.Limit < 0:
		return q, fault.New(fault.Invalid, "--limit must not be negative.")
	case c.Limit > 0 && c.All:
		return q, fault.New(fault.Invalid, "Give --limit or --all, not both.")
	case c.Watch && c.Interval < 500*time.Millisecond:
		return q, fault.New(fault.Invalid, "--interval must be at least 500ms.")
	}
	places, filters, err := asked(c.resource, c.Asked, now)
	if err != nil {
		return q, err
	}
	q.filters = filters
	path := c.resource.address(len(places))
	switch {
	case len(c.resource.by) > 0:
		q.question = question(strings.ReplaceAll(c.resource.list, "{by}", places[0]))
		q.path = api.Prefix + q.question.Path
	case path == "":
		return q, fault.New(fault.Invalid, "get %s needs more names: see get %[1]s --help.", c.resource.name)
	default:
		q.question, q.path = question(path), fill(path, places)
	}
	if err := q.filtersFit(); err != nil {
		return q, err
	}
	if q.csv() && !q.isList() {
		return q, fault.New(fault.Invalid, "There is no CSV of one object; use --output json.")
	}
	return q, nil
}

// filtersFit refuses a filter that is one of another address of the resource.
func (q query) filtersFit() error {
	for name := range q.filters {
		if _, ok := q.question.Param(name); ok {
			continue
		}
		for _, path := range []string{q.resource.list, q.resource.part, q.resource.one} {
			if path == "" || len(q.resource.by) > 0 {
				continue
			}
			if _, ok := question(path).Param(name); ok {
				usage := strings.TrimSpace("get " + q.resource.name + " " + strings.ToUpper(strings.Join(inPath(path), " ")))
				return fault.New(fault.Invalid, "--%s goes with %s, and not with what is asked for here.", name, usage)
			}
		}
		return fault.New(fault.Invalid, "--%s does not go with what is asked for here: see get %s --help.", name, q.resource.name)
	}
	return nil
}

func (q query) csv() bool { return q.output == "csv" }

// isList tells whether the answer has rows.
func (q query) isList() bool {
	return q.question.Item != nil || q.question.Path == q.resource.list && q.resource.rows != ""
}

// named is the query with a project's id instead of its name, in the address and in the filters.
func (q query) named(ctx context.Context, remote app.Remote) (query, error) {
	if name := q.filters.Get("project"); name != "" && name != shares.SeveralProjects && name != shares.AllProjects {
		id, err := projectNamed(ctx, remote, name, q.filters.Get("db"))
		if err != nil {
			return q, err
		}
		q.filters.Set("project", id)
	}
	rest, of := strings.CutPrefix(q.path, api.Prefix+"/projects/")
	escaped, after, more := strings.Cut(rest, "/")
	name, err := url.PathUnescape(escaped)
	if !of || err != nil {
		return q, nil
	}
	id, err := projectNamed(ctx, remote, name, q.filters.Get("db"))
	q.path = api.Prefix + "/projects/" + id
	if more {
		q.path += "/" + after
	}
	return q, err
}

// projectNamed is the id of the project with an id, a name or a public key.
func projectNamed(ctx context.Context, remote app.Remote, name, db string) (string, error) {
	if isObjectID(name) {
		return name, nil
	}
	var found api.List[api.Project]
	if err := remote.Get(ctx, api.Prefix+"/projects?limit=1000&q="+url.QueryEscape(name), &found); err != nil {
		return "", err
	}
	found.Items = slices.DeleteFunc(found.Items, func(p api.Project) bool {
		return p.Name != name && p.PublicKey != name || db != "" && p.DB != db
	})
	switch len(found.Items) {
	case 0:
		return "", fault.New(fault.NotFound, "No project has the id or name %q.", sanitize.Truncate(name, 100))
	case 1:
		return found.Items[0].ID, nil
	}
	var ids []string
	for _, p := range found.Items {
		ids = append(ids, p.ID+" ("+p.DB+")")
	}
	return "", fault.New(fault.Conflict, "Several projects are named %q: choose by id: %s.", sanitize.Truncate(name, 100),
		strings.Join(ids, ", "))
}

func isObjectID(text string) bool {
	return len(text) == 24 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// show asks once and writes the answer.
func (q query) show(e *env, remote app.Remote) error {
	w := bufio.NewWriter(e.stdout)
	if !q.isList() {
		text, _, err := remote.Read(e.ctx, q.address(q.objectRows()), "")
		if err != nil {
			return err
		}
		if err := q.writeObject(w, text, e.out); err != nil {
			return err
		}
		return w.Flush()
	}
	out := q.lines(e, w)
	if err := q.pages(e.ctx, remote, out); err != nil {
		return errors.Join(err, w.Flush())
	}
	return w.Flush()
}

// objectRows is how many rows of each of its lists an object shows, where it has pages of them.
func (q query) objectRows() url.Values {
	_, paged := q.question.Param("cursor")
	switch {
	case paged && q.all:
		return url.Values{"limit": {strconv.Itoa(api.MaxLimit)}}
	case paged && q.limit > 0:
		return url.Values{"limit": {strconv.Itoa(min(q.limit, api.MaxLimit))}}
	}
	return nil
}

// address is the address with the filters and further parameters.
func (q query) address(more url.Values) string {
	all := url.Values{}
	for _, of := range []url.Values{q.filters, more} {
		for name, values := range of {
			all[name] = values
		}
	}
	if len(all) == 0 {
		return q.path
	}
	return q.path + "?" + all.Encode()
}

// pages asks for the list page by page and hands its items over.
func (q query) pages(ctx context.Context, remote app.Remote, out lines) error {
	_, limited := q.question.Param("limit")
	_, paged := q.question.Param("cursor")
	more := url.Values{}
	most, seen := out.most(), map[string]bool{}
	for shown := 0; ; {
		if limited {
			page := api.MaxLimit
			if most > 0 {
				page = min(page, most-shown)
			}
			more.Set("limit", strconv.Itoa(page))
		}
		text, _, err := remote.Read(ctx, q.address(more), "")
		if err != nil {
			return err
		}
		list, err := splitList(text, q.rowsField())
		if err != nil {
			return err
		}
		list.full = limited && !paged && len(list.items) >= api.MaxLimit
		if most > 0 && shown+len(list.items) > most {
			list.items, list.cut = list.items[:most-shown], true
		}
		if err := out.page(list.items); err != nil {
			return err
		}
		shown += len(list.items)
		if next := list.next(); next != "" && (most == 0 || shown < most) {
			if seen[next] {
				return fault.New(fault.Internal, "The server answers with the same pages again and again; the list was ended.")
			}
			seen[next] = true
			more.Set("cursor", next)
			continue
		}
		return out.end(list)
	}
}

func (q query) rowsField() string {
	if q.resource.rows != "" {
		return q.resource.rows
	}
	return "items"
}

// note writes a remark beside the answer.
func (e *env) note(format string, args ...any) {
	fmt.Fprintln(e.stderr, clean(fmt.Sprintf(format, args...)))
}
