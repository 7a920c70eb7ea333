package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// locateWait bounds what is waited for one cluster.
const locateWait = 5 * time.Second

// States of a cluster's answer, in the order of the list.
const (
	found        = "found"
	unreachable  = "unreachable"
	invalid      = "invalid"
	notFound     = "notFound"
	notPermitted = "notPermitted"
)

var locateOrder = []string{found, unreachable, invalid, notFound, notPermitted}

// locate asks all clusters that the caller may see for q=, or for ns= with key=.
func locate(s *site.Site, r *http.Request) (out api.List[api.ClusterLocate], err error) {
	q, err := parseLocate(r.URL.Query())
	if err == nil && q.Text == "" && q.NS == "" {
		err = fault.New(fault.Invalid, "Give q=: a project, project/document key or id; or ns= with key=.")
	}
	if err != nil {
		return out, err
	}
	out.AsOf = s.Deps.Now()
	out.Items, err = locateAll(r.Context(), s, q, auth.From(r.Context()))
	return out, err
}

// parseLocate reads a query for all clusters. Searches that cost more than where the text leads are for
// one cluster at a time.
func parseLocate(in url.Values) (placement.Query, error) {
	q, err := locating.ParseLocateQuery(in)
	if err != nil {
		return q, err
	}
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case len(q.Text) > placement.MaxQueryBytes:
		err = fault.New(fault.Invalid, "A query has at most %d bytes.", placement.MaxQueryBytes)
	case q.In != "":
		err = fault.New(fault.Invalid, "in= searches one cluster: ask it below /c/NAME.")
	case q.Key != "" && q.Text != "":
		err = fault.New(fault.Invalid, "Give q=, or ns= with key=, not both.")
	case q.Key != "" && q.NS == "":
		err = fault.New(fault.Invalid, "Give ns= with key=: the collection whose shard key it is.")
	case q.NS != "" && q.Key == "" && q.Text == "":
		err = fault.New(fault.Invalid, "Give key= with ns=: a shard key as Extended JSON.")
	}
	return q, err
}

// asked is a cluster that is asked, and who asks, with their role on it.
type asked struct {
	cluster *site.Cluster
	who     auth.Principal
}

// allowed are the clusters that somebody may see. Each that will be asked counts against their allowance
// as a request to it would.
func allowed(s *site.Site, who auth.Principal) (out []asked, err error) {
	for _, c := range s.Deps.Place.Clusters.All() {
		role, sees := c.Role(who)
		if !sees {
			continue
		}
		within := who
		within.Role = role
		if c.Site != nil && within.May(auth.Support) {
			if wait := s.Guard.Limits.Wait(who, guard.Rule{Method: http.MethodGet, Policy: guard.PolicyLocate}); wait > 0 {
				return nil, &auth.TooMany{Wait: wait}
			}
		}
		out = append(out, asked{c, within})
	}
	return out, nil
}

// locateAll asks the clusters at once, so that one that does not answer keeps nobody waiting for longer
// than locateWait.
func locateAll(ctx context.Context, s *site.Site, q placement.Query, who auth.Principal) ([]api.ClusterLocate, error) {
	list, err := allowed(s, who)
	if err != nil {
		return nil, err
	}
	out := make([]api.ClusterLocate, len(list))
	var all sync.WaitGroup
	for i, a := range list {
		all.Go(func() {
			out[i] = locateIn(ctx, a, q)
			out[i].Name, out[i].Title = a.cluster.Name, a.cluster.Title
		})
	}
	all.Wait()
	slices.SortStableFunc(out, func(a, b api.ClusterLocate) int {
		return cmp.Compare(slices.Index(locateOrder, a.State), slices.Index(locateOrder, b.State))
	})
	return out, nil
}

// notAsked tells whether a cluster cannot be asked, in which state it is then, and why.
func (a asked) notAsked() (state, text string, is bool) {
	c := a.cluster
	switch {
	case !a.who.May(auth.Support):
		return notPermitted, "Locate needs the role support on this cluster; yours is " + a.who.Role.Label() + ".", true
	case c.Site == nil && c.Failure != nil:
		return unreachable, fault.Text(c.Failure), true
	case c.Site == nil:
		return unreachable, "It is being connected to.", true
	}
	return "", "", false
}

// locateIn asks one cluster.
func locateIn(ctx context.Context, a asked, q placement.Query) (out api.ClusterLocate) {
	out.Found = []api.Located{}
	state, text, not := a.notAsked()
	if not {
		out.State, out.Text = state, text
		return out
	}
	c := a.cluster
	defer func() {
		if p := recover(); p != nil {
			out.State, out.Text = unreachable, panicked(ctx, c, p)
		}
	}()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, locateWait)
	defer cancel()
	v := c.Site.ViewBy(a.who)
	out.URL = api.Address(locateURL(c, q))
	at, stale := answer.DirectoryAsOf(v)
	out.AsOf, out.Stale = api.Time(at), stale
	whole, err := locating.Find(ctx, c.Site.Deps.Locate.Locator, q)
	var remarks []string // such as that the name is not exactly this
	if err == nil {
		a := locating.Locate(ctx, v, nil, whole, locating.LocateExtras{})
		notes := a.Notes
		for _, it := range a.Items {
			out.Found = append(out.Found, locatedOf(it, string(out.URL)))
			notes = append(notes, it.Notes...)
		}
		for _, n := range notes {
			remarks = append(remarks, n.Message.String())
		}
	}
	if q.Near { // they are looked for in any case
		out.Near = locating.NearNames(whole.Near)
	}
	if q.NS == "" {
		for _, it := range locating.ExactlyNamed(v, q.Text) {
			found := api.Located{Kind: it.Kind, Name: it.Name, Shards: []string{}, URL: api.Address(c.Site.Address(string(it.URL)))}
			out.Found = append(out.Found, found)
		}
	}
	if out.State, out.Text = locateState(len(out.Found) > 0, err, time.Since(began) >= locateWait); out.State == notFound && out.Stale {
		out.State, out.Text = unreachable, "What was read last does not have it, and that is not up to date. "+out.Text
	}
	if out.State == found {
		out.Text = strings.Join(slices.Compact(remarks), " ")
	}
	if fault.Of(err) == fault.Internal {
		c.Site.Deps.Log.ErrorContext(ctx, "locate in all clusters", "err", err)
	}
	return out
}

// panicked logs a panic while a cluster was asked, which runs on a goroutine of its own, and would end
// the process.
func panicked(ctx context.Context, c *site.Cluster, p any) (text string) {
	c.Site.Deps.Log.ErrorContext(ctx, "panic while locating in all clusters", "panic", site.LogText(fmt.Sprint(p)),
		"stack", string(debug.Stack()))
	return fault.Text(errors.New("panic"))
}

func locatedOf(it api.LocateItem, url string) api.Located {
	return api.Located{Kind: it.Kind, ID: it.ID, Name: it.Name, Project: cmp.Or(it.ProjectName, it.Project), Shards: it.Shards,
		Answer: it.Answer.String(), URL: api.Address(url)}
}

// locateURL is a cluster's own answer to a query.
func locateURL(c *site.Cluster, q placement.Query) string {
	in := url.Values{}
	for name, value := range map[string]string{"q": q.Text, "ns": string(q.NS), "key": q.Key} {
		if value != "" {
			in.Set(name, value)
		}
	}
	return c.Site.Address("/locate?" + in.Encode())
}

func locateState(any bool, err error, late bool) (state, text string) {
	switch kind := fault.Of(err); {
	case any:
		return found, ""
	case err == nil:
		return notFound, "It is an id or value that belongs to no collection by itself."
	case late: // and not that an earlier read of the cluster took too long
		return unreachable, "It did not answer within 5 seconds."
	case kind == fault.NotFound:
		return notFound, fault.Text(err)
	case kind == fault.Invalid:
		return invalid, fault.Text(err)
	}
	return unreachable, fault.Text(err)
}
