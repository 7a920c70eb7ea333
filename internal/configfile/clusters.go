package configfile

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/auth"
	"shardboard/internal/sanitize"
)

// clusterKeys are the keys of a cluster, by the form of their values. Those that serve has a flag for
// replace the value that is set for all clusters.
var clusterKeys = map[string]Kind{
	"name": {Type: Text}, "title": {Type: Text}, "uri": {Type: Text}, "uri-file": {Type: Text}, "profile": {Type: Text},
	"alerts":  {Type: Text},
	"actions": {Type: Text, Choices: []string{"on", "off"}}, "hide-bounds": {Type: Switch}, "maintenance-window": {Type: List},
	"severity-bounds":          {Type: List},
	"project-sizes-per-minute": {Type: Number}, "roles": {Type: Mapping},
	"approval-bytes": {Type: Text}, "approval-chunks": {Type: Number}, "approval-kinds": {Type: List}, "approval-wait": {Type: Span},
}

// clusterName is what a name may be: it stands in addresses, metrics and file names.
var clusterName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// ClusterName tells whether a text can be the name of a cluster.
func ClusterName(text string) bool { return clusterName.MatchString(text) }

// longestTitle is in bytes.
const longestTitle = 60

func (r reader) clusters(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.bad(n, "clusters: write a list with one item for each cluster, each beginning with - name:")
		return
	}
	if len(n.Content) > MaxClusters {
		r.bad(n.Content[MaxClusters], "there are %d clusters, and one server watches at most %d: move some to another server", len(n.Content),
			MaxClusters)
	}
	names := map[string]int{}
	for _, item := range n.Content {
		c := r.cluster(item)
		if first, twice := names[c.Name]; twice && c.Name != "" {
			r.f.Add(c.At("name"), "the name %s is already that of the cluster on line %d: names are in addresses, so choose another", c.Name, first)
		} else {
			names[c.Name] = c.At("name")
		}
		r.f.Clusters = append(r.f.Clusters, c)
	}
}

func (r reader) cluster(n *yaml.Node) Cluster {
	c := Cluster{Line: n.Line, lines: map[string]int{}}
	var known []string
	for key := range clusterKeys {
		known = append(known, key)
	}
	slices.Sort(known)
	r.pairs(n, "a cluster", known, func(key, value *yaml.Node) {
		c.lines[key.Value] = key.Line
		if values, ok := r.values(key, value, clusterKeys[key.Value]); ok {
			r.take(&c, key, value, values)
		}
	})
	if n.Kind != yaml.MappingNode {
		return c
	}
	if !c.Has("name") {
		r.bad(n, "this cluster has no name: write name: and letters, digits or - as they are to be in addresses")
	}
	switch {
	case !c.Has("uri") && !c.Has("uri-file"):
		r.bad(n, "this cluster has no address: write uri-file: and the file that holds it, or uri: mongodb://…")
	case c.Has("uri") && c.Has("uri-file"):
		r.f.Add(c.At("uri-file"), "the address is there twice: write uri or uri-file, not both")
	}
	if c.Title == "" {
		c.Title = c.Name
	}
	return c
}

// take puts a value into the cluster.
func (r reader) take(c *Cluster, key, n *yaml.Node, values []string) {
	text := ""
	if len(values) > 0 {
		text = values[0]
	}
	switch key.Value {
	case "name":
		if !clusterName.MatchString(text) {
			r.bad(n, "the name %q cannot be in an address: write 1 to 40 of a-z, 0-9 and -, with a letter or digit first and last",
				sanitize.Truncate(text, shownOfText))
			return
		}
		c.Name = text
	case "title":
		if text == "" || len(text) > longestTitle || sanitize.Line(text) != text {
			r.bad(n, "title: write 1 to %d bytes of plain text", longestTitle)
			return
		}
		c.Title = text
	case "uri":
		if c.URI = text; text == "" {
			r.bad(n, "uri: write the address of the cluster, or uri-file: and the file that holds it")
		}
	case "uri-file":
		if c.URIFile = text; text == "" {
			r.bad(n, "uri-file: write the name of the file that holds the address")
		}
	case "profile":
		c.Profile = text
	case "alerts":
		c.Alerts = text
	case "actions":
		on := text == "on"
		c.Actions = &on
	case "hide-bounds":
		on := text == "true"
		c.HideBounds = &on
	case "maintenance-window":
		c.Maintenance = values
	case "severity-bounds":
		c.SeverityBounds = values
	case "approval-bytes":
		c.ApprovalBytes = text
	case "approval-chunks":
		n, _ := strconv.Atoi(text) // its form was checked
		c.ApprovalChunks = &n
	case "approval-kinds":
		c.ApprovalKinds = values
	case "approval-wait":
		d, _ := time.ParseDuration(text) // its form was checked
		c.ApprovalWait = &d
	case "project-sizes-per-minute":
		n, _ := strconv.Atoi(text) // its form was checked
		c.ProjectSizes = &n
	case "roles":
		c.Roles, c.roleLines = r.roles(n)
	}
}

func (r reader) roles(n *yaml.Node) (roles map[string]string, lines map[string]int) {
	roles, lines = map[string]string{}, map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		who, role := n.Content[i].Value, n.Content[i+1].Value
		if wrong := auth.CheckClusterRole(who, role); wrong != "" {
			r.bad(n.Content[i], "roles: %s", wrong)
		}
		roles[who], lines[who] = role, n.Content[i].Line
	}
	return roles, lines
}
