package templates

import (
	"context"
	"slices"
)

// NavEntry is one of the few entries of the navigation: its first page, which it leads to, and the others, which
// stand as tabs above each page of the entry.
type NavEntry struct {
	Code  string // static/css/icons.css has its icon
	Name  string
	Pages []NavPage // at least one
}

// NavPage is a page that is always there.
type NavPage struct{ Code, Name, URL string }

// has tells whether a page belongs to the entry.
func (e NavEntry) has(code string) bool {
	return slices.ContainsFunc(e.Pages, func(p NavPage) bool { return p.Code == code })
}

// NavOfServer lists the entries of a server of several clusters.
func NavOfServer(you You) []NavEntry {
	return entries(
		NavEntry{"clusters", "Clusters", pages(true, NavPage{"clusters", "Clusters", "/"})},
		NavEntry{"locate", "Locate", locatePages(you)},
		NavEntry{"problems", "Playbooks", pages(true, NavPage{"help", "Playbooks", "/help"}, NavPage{"runbooks", "Runbooks", "/runbooks"})},
		NavEntry{"admin", "Admin", adminPages(you)},
	)
}

// nav lists the entries of a page.
func (s Shell) nav(ctx context.Context) []NavEntry {
	if s.OfServer {
		return NavOfServer(s.You)
	}
	list := NavOf(s.You, s.Runs, s.History)
	for i := range list {
		if e := &list[i]; e.Code == "projects" {
			e.Name, e.Pages[0].Name = Words(ctx, e.Name), Words(ctx, e.Pages[0].Name)
		}
	}
	return list
}

// entry is that of the navigation which a page belongs to; the zero NavEntry if to none.
func (s Shell) entry(ctx context.Context) NavEntry {
	for _, e := range s.nav(ctx) {
		if e.has(s.Nav) {
			return e
		}
	}
	return NavEntry{}
}

// NavOf lists the pages that somebody may use. runs tells whether changes can be made here, history whether the
// past is kept.
func NavOf(you You, runs, history bool) []NavEntry {
	return entries(
		NavEntry{"overview", "Overview", pages(true, NavPage{"overview", "Overview", "/"})},
		NavEntry{"locate", "Locate", locatePages(you)},
		NavEntry{"projects", "Projects", pages(true, NavPage{"projects", "Projects", "/projects"}, NavPage{"watch", "Watch", "/watch"})},
		NavEntry{"data", "Data", pages(true,
			NavPage{"collections", "Collections", "/collections"}, NavPage{"map", "Map", "/map"}, NavPage{"matrix", "Matrix", "/matrix"},
			NavPage{"zones", "Zones", "/zones"}, NavPage{"shards", "Shards", "/shards"}, NavPage{"layout", "Layout", "/layout"},
			NavPage{"surveys", "Surveys", "/surveys"}, NavPage{"duplicates", "Duplicate ids", "/checks/duplicates"},
			NavPage{"metadata", "Metadata check", "/checks/metadata"})},
		NavEntry{"heat", "Heat", pages(true, NavPage{"heat", "Heat", "/heat"})},
		NavEntry{"problems", "Problems", pages(true, NavPage{"advise", "Problems", "/advice"},
			NavPage{"past", "Past problems", "/advice/past"}, NavPage{"alerts", "Alerts", "/alerts"},
			NavPage{"help", "Playbooks", "/help"}, NavPage{"runbooks", "Runbooks", "/runbooks"})},
		NavEntry{"changes", "Changes", slices.Concat(pages(runs, NavPage{"runs", "Runs", "/runs"}),
			pages(true, NavPage{"activity", "Activity", "/activity"}), pages(history, NavPage{"compare", "Compare two times", "/compare"}))},
		NavEntry{"admin", "Admin", adminPages(you)},
		NavEntry{"lab", "Lab", pages(true, NavPage{"lab", "Lab", "/lab"}, NavPage{"lab-growth", "Growth planner", "/lab/growth"},
			NavPage{"lab-keys", "Shard keys compared", "/lab/keys"}, NavPage{"lab-ids", "Where ids land", "/lab/ids"},
			NavPage{"lab-game", "Shard-key game", "/lab/game"})},
	)
}

func locatePages(you You) []NavPage {
	return pages(you.MayLocate, NavPage{"locate", "Locate", "/locate"}, NavPage{"bulk", "Locate many lines", "/locate/bulk"})
}

func adminPages(you You) []NavPage {
	return slices.Concat(pages(true, NavPage{"settings", "Settings", "/settings"}),
		pages(you.MayAdmin, NavPage{"users", "Users", "/settings/users"}),
		pages(you.MayOperate, NavPage{"audit", "Audit", "/audit"}))
}

// pages are those that somebody may use: all of them or none.
func pages(may bool, list ...NavPage) []NavPage {
	if !may {
		return nil
	}
	return list
}

// entries are those with a page.
func entries(list ...NavEntry) []NavEntry {
	return slices.DeleteFunc(list, func(e NavEntry) bool { return len(e.Pages) == 0 })
}

// inBar tells whether an entry is in the bar of a phone; its menu has the others.
func inBar(code string) bool {
	return slices.Contains([]string{"overview", "locate", "projects", "problems", "clusters"}, code)
}
