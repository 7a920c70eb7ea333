package site

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/guard"
	"shardboard/web/templates"
)

// Clusters are the clusters of a server of several. Implementations are safe for concurrent use.
type Clusters interface {
	// All are the clusters in the order of the configuration. The slice is not changed afterwards.
	All() []*Cluster
	// Subscribe returns a channel that receives a value after a cluster or the configuration changed, and
	// a function that ends the subscription.
	Subscribe() (<-chan struct{}, func())
	// Configuration says whether the configuration file that was read last is in force.
	Configuration() Configuration
}

// Cluster is one cluster of a server.
type Cluster struct {
	Name, Title string
	Target      string // redacted address
	Site        *Site  // nil until its parts are made
	Failure     error  // why they are not made; nil while they are being made
	Since       time.Time
	Role        func(auth.Principal) (auth.Role, bool) // on this cluster, of a principal of the server
	Reach       Reach
}

// Reach is whether a cluster answers, and since when.
type Reach struct {
	Known, Yes bool
	Since      time.Time
}

// Configuration is the state of the configuration file of a server of several clusters.
type Configuration struct {
	File    string
	Loaded  time.Time // when the configuration in force was read
	Failed  time.Time // when a later one was refused; zero: none was
	Problem string    // why: lines of FILE:LINE: sentence
	Pending []string  // what needs a restart, by keys of the file
	// Left are clusters that were removed while a run was under way. Nobody settles it until the cluster is
	// configured again, under whatever name.
	Left []string
}

// ofCluster tells whether the site has the pages of a cluster, and ofServer whether it has those of the
// server. A server of one cluster has both on one site.
func (s *Addresses) ofCluster() bool {
	return s.place.Clusters == nil || s.place.Base.Prefix != ""
}

func (s *Addresses) ofServer() bool { return s.place.Base.Prefix == "" }

// Status is the line in the header: of the cluster, or on the server's own pages of the server.
func (s *Site) Status(v answer.View) api.Status {
	if s.ofCluster() {
		return problems.Status(v)
	}
	return problems.ServerStatus(v)
}

// Visible are the clusters that somebody may see, of those of the server.
func (s *Site) Visible(who auth.Principal) (out []*Cluster) {
	if s.Deps.Place.Clusters == nil {
		return nil
	}
	if who.ServerRole != "" {
		who.Role = who.ServerRole
	}
	for _, c := range s.Deps.Place.Clusters.All() {
		if _, sees := c.Role(who); sees {
			out = append(out, c)
		}
	}
	return out
}

// MayLocate tells whether somebody may locate: here, or on the server's own site in one of its clusters.
func (s *Site) MayLocate(who auth.Principal) bool {
	if s.ofCluster() {
		return who.May(auth.Support)
	}
	return slices.ContainsFunc(s.Deps.Place.Clusters.All(), func(c *Cluster) bool {
		role, sees := c.Role(who)
		return sees && role.Includes(auth.Support)
	})
}

// clusterChoices are the links from one cluster to the others.
func (s *Site) clusterChoices(who auth.Principal) (out []templates.ClusterChoice) {
	for _, c := range s.Visible(who) {
		out = append(out, templates.ClusterChoice{Title: c.Title, URL: c.Base() + "/", Current: c.Name == s.Deps.Place.Name})
	}
	return out
}

// failCluster answers an address of a cluster that the server's own site is asked for: the address of
// the cluster without its slash, or that of a cluster without pages. False if there is no such cluster
// for whoever asks.
func (s *Site) failCluster(w http.ResponseWriter, r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, "/c/")
	name, _, slash := strings.Cut(rest, "/")
	if s.ofCluster() || !ok {
		return false
	}
	who := auth.From(r.Context())
	if _, listed := who.Clusters[name]; who.Clusters != nil && !listed { // whether there is such a cluster or not
		s.Fail(w, r, guard.OtherCluster(who))
		return true
	}
	for _, c := range s.Visible(who) {
		switch {
		case c.Name != name:
		case !slash && r.Method == http.MethodGet:
			SeeOther(w, c.Base()+"/")
			return true
		case c.Site == nil && c.Failure != nil:
			s.Fail(w, r, fault.Wrap(fault.Unavailable, c.Failure, "The cluster %s has no pages now. %s", c.Title, fault.Text(c.Failure)))
			return true
		case c.Site == nil:
			s.Fail(w, r, fault.New(fault.Unavailable, "The cluster %s is being connected to. Its pages are here in a few seconds.", c.Title))
			return true
		}
	}
	return false
}

// leadToClusters leads somebody who opens a cluster's page at the root, as on a server of one cluster, to
// the list of clusters, whose links then lead to that page.
func (s *Site) leadToClusters(w http.ResponseWriter, r *http.Request) bool {
	if s.ofCluster() || r.Method != http.MethodGet && r.Method != http.MethodHead || guard.WantsJSON(r) ||
		s.InClusters(r.URL.RequestURI()) == "" {
		return false
	}
	SeeOther(w, "/?to="+url.QueryEscape(r.URL.RequestURI()))
	return true
}

// InClusters is an address if there is such a page in each cluster, else "".
func (s *Addresses) InClusters(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || s.place.ClusterPage == nil || !s.place.ClusterPage(u.EscapedPath()) {
		return ""
	}
	return u.RequestURI()
}

// unsettled is the title of a cluster that is being read for the first time; "" if there is none. A
// cluster that does not answer is no reason for the server not to be ready: the others are.
func (s *Site) unsettled() string {
	for _, c := range s.Deps.Place.Clusters.All() {
		if c.Failure == nil && !c.Reach.Known {
			return c.Title
		}
	}
	return ""
}

// ID is the cluster's id, also as it was last seen; "" while it is not known.
func (c *Cluster) ID() string {
	if c.Site == nil {
		return ""
	}
	return c.Site.Deps.Cluster.Watcher.Table().ClusterID
}

// Base is where the addresses of a cluster begin.
func (c *Cluster) Base() string { return ClusterBase(c.Name) }

// ClusterBase is where the addresses of a cluster begin.
func ClusterBase(name string) string { return "/c/" + name }

// SplitCluster takes a request at /c/{name}/… apart: the name of the cluster, and the request as the
// cluster's own site takes it. ok is false for any other address, and for /c/{name} without the slash.
func SplitCluster(r *http.Request) (name string, within *http.Request, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/c/")
	name, _, slash := strings.Cut(rest, "/")
	if !ok || !slash || name == "" {
		return "", nil, false
	}
	prefix := ClusterBase(name)
	if r.URL.RawPath != "" && !strings.HasPrefix(r.URL.RawPath, prefix+"/") {
		return "", nil, false // a name needs no escaping, so this is none
	}
	within = new(http.Request)
	*within = *r
	within.URL = new(url.URL)
	*within.URL = *r.URL
	within.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	within.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, prefix)
	return name, within, true
}

// AtRoot is a request at a cluster's site as it came to the server.
func AtRoot(r *http.Request, prefix string) *http.Request {
	out := r.WithContext(templates.WithBase(r.Context(), templates.Base{Root: templates.BaseOf(r.Context()).Root}))
	out.URL = new(url.URL)
	*out.URL = *r.URL
	out.URL.Path = prefix + r.URL.Path
	if r.URL.RawPath != "" {
		out.URL.RawPath = prefix + r.URL.RawPath
	}
	return out
}
