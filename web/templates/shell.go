package templates

import (
	"context"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/message"
)

// Shell is what surrounds every page.
type Shell struct {
	Title    string
	Nav      string // code of the current navigation entry
	Topics   []string
	Status   api.Status
	Shards   []ShardRef
	Target   string // redacted address of the cluster
	Server   string // MongoDB's version
	Demo     bool
	Tour     Tour
	Version  string
	Opened   string // when the page was made, for print
	Request  string // id of the request, on pages of errors
	You      You
	Banners  []message.Message // what everybody must know on every page
	TakeOver bool              // the data directory has no owner, and who looks may make this process it

	LastRecorded answer.LastRecorded // of a cluster that was not read yet

	Windows []WindowChoice // times that the page's figures of writes can be of; none: it has none

	Time     TimeBar  // leads through time, where the page has a past
	Watching Watching // asked for in the address
	Runs     bool     // changes can be made here, so there are runs to look at
	Waiting  int      // plans that wait for the approval of who looks
	History  bool     // the past is kept, so two times can be compared
	OfServer bool     // a page of a server of several clusters, about none of them
	Cluster  string   // title of the cluster, on a server of several
	Clusters []ClusterChoice
	CSV      string // address of what the page shows as CSV; "" if it shows no list
}

// WindowChoice is a time that figures of writes can be of.
type WindowChoice struct {
	Text, URL string
	Current   bool
}

// ClusterChoice is a cluster that its reader may go to.
type ClusterChoice struct {
	Title, URL string
	Current    bool
}

// You is who looks at the page and what it offers them. The zero You is
// nobody, who sees nothing of the cluster.
type You struct {
	Name, Role                      string
	CanLeave                        bool // there is a session to end
	MayLocate, MayOperate, MayAdmin bool
}

// legendMax is how many shards the navigation lists open; more of them are folded.
const legendMax = 12

// topics is the value of the live socket's t parameter: a topic's own commas,
// at signs and percent signs are escaped, because they separate.
func topics(list []string) string {
	safe := strings.NewReplacer("%", "%25", ",", "%2C", "@", "%40")
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = safe.Replace(t)
	}
	return strings.Join(out, ",")
}

// Current is the value of aria-current for a navigation entry.
func Current(is bool) string {
	if is {
		return "page"
	}
	return "false"
}

// keyRow is one line of the keyboard help.
type keyRow struct {
	keys  []string
	words string
}

// keyList is what static/js/shortcuts.js listens to, in the order of the help.
func keyList() []keyRow {
	return []keyRow{
		{[]string{"Ctrl", "K"}, "Go to a page, project, shard, collection or change"},
		{[]string{"/"}, "Go to the locate box"},
		{[]string{"g", "o"}, "Overview"},
		{[]string{"g", "l"}, "Locate"},
		{[]string{"g", "m"}, "Map"},
		{[]string{"g", "p"}, "Projects"},
		{[]string{"g", "c"}, "Collections"},
		{[]string{"g", "z"}, "Zones"},
		{[]string{"g", "h"}, "Heat"},
		{[]string{"g", "a"}, "Activity"},
		{[]string{"j", "k"}, "Next, previous row"},
		{[]string{"[", "]"}, "Previous, next page"},
		{[]string{",", ".", "n"}, "change before, after; now"},
		{[]string{"y"}, "Copy the id or bound of the row"},
		{[]string{"c"}, "Copy the ticket of what was located"},
		{[]string{"t"}, "Light or dark"},
		{[]string{"?"}, "This list"},
	}
}

// paletteLocate is where the palette looks for what it does not know; "" if the viewer may not locate.
func paletteLocate(ctx context.Context, s Shell) string {
	if !s.You.MayLocate {
		return ""
	}
	return string(Address(ctx, "/locate?q="))
}
