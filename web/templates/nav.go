package templates

// NavEntry is a page that is always there, in the navigation or in the palette alone.
type NavEntry struct {
	Code, Name, URL string
	InNav           bool // static/css/icons.css then has its icon
}

// NavOfServer lists those of a server of several clusters.
func NavOfServer(you You) []NavEntry {
	out := []NavEntry{{"clusters", "Clusters", "/", true}}
	if you.MayLocate {
		out = append(out, NavEntry{"locate", "Locate", "/locate", true})
	}
	if you.MayOperate {
		out = append(out, NavEntry{"audit", "Audit", "/audit", true})
	}
	out = append(out, NavEntry{"help", "Playbooks", "/help", false}, NavEntry{"settings", "Settings", "/settings", false})
	if you.MayLocate {
		out = append(out, NavEntry{"bulk", "Locate many lines", "/locate/bulk", false})
	}
	if you.MayAdmin {
		out = append(out, NavEntry{"users", "Users", "/settings/users", false})
	}
	return out
}

// nav lists those of a page.
func (s Shell) nav() []NavEntry {
	if s.OfServer {
		return NavOfServer(s.You)
	}
	return NavOf(s.You, s.Runs, s.History)
}

// NavOf lists the pages that somebody may use, those of the navigation first. runs tells
// whether changes can be made here, history whether the past is kept.
func NavOf(you You, runs, history bool) []NavEntry {
	var out []NavEntry
	add := func(may bool, e NavEntry) {
		if may {
			out = append(out, e)
		}
	}
	add(true, NavEntry{"overview", "Overview", "/", true})
	add(you.MayLocate, NavEntry{"locate", "Locate", "/locate", true})
	add(true, NavEntry{"map", "Map", "/map", true})
	add(true, NavEntry{"projects", "Projects", "/projects", true})
	add(true, NavEntry{"collections", "Collections", "/collections", true})
	add(true, NavEntry{"matrix", "Matrix", "/matrix", true})
	add(true, NavEntry{"zones", "Zones", "/zones", true})
	add(true, NavEntry{"heat", "Heat", "/heat", true})
	add(true, NavEntry{"activity", "Activity", "/activity", true})
	add(true, NavEntry{"advise", "Advice", "/advice", true})
	add(runs, NavEntry{"runs", "Runs", "/runs", true})
	add(you.MayOperate, NavEntry{"audit", "Audit", "/audit", true})
	add(true, NavEntry{"lab", "Lab", "/lab", true})

	add(true, NavEntry{"help", "Playbooks", "/help", false})
	add(true, NavEntry{"layout", "Layout", "/layout", false})
	add(true, NavEntry{"surveys", "Surveys", "/surveys", false})
	add(true, NavEntry{"growth", "Lab: growth planner", "/lab/growth", false})
	add(true, NavEntry{"alerts", "Alerts", "/alerts", false})
	add(true, NavEntry{"lab-keys", "Lab: shard keys compared", "/lab/keys", false})
	add(true, NavEntry{"lab-game", "Lab: shard-key game", "/lab/game", false})
	add(true, NavEntry{"lab-ids", "Lab: where ids land", "/lab/ids", false})
	add(history, NavEntry{"compare", "Compare two times", "/compare", false})
	add(you.MayLocate, NavEntry{"bulk", "Locate many lines", "/locate/bulk", false})
	add(true, NavEntry{"duplicates", "Check for duplicate ids", "/checks/duplicates", false})
	add(true, NavEntry{"metadata", "Check the metadata", "/checks/metadata", false})
	add(true, NavEntry{"settings", "Settings", "/settings", false})
	add(you.MayAdmin, NavEntry{"users", "Users", "/settings/users", false})
	return out
}
