package templates

// NavEntry is a page that is always there, in the navigation or in the palette alone.
type NavEntry struct {
	Code, Name, URL string
	InNav           bool // static/css/icons.css then has its icon
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

	add(true, NavEntry{"layout", "Layout", "/layout", false})
	add(true, NavEntry{"surveys", "Surveys", "/surveys", false})
	add(true, NavEntry{"alerts", "Alerts", "/alerts", false})
	add(history, NavEntry{"compare", "Compare two times", "/compare", false})
	add(you.MayLocate, NavEntry{"bulk", "Locate many lines", "/locate/bulk", false})
	add(true, NavEntry{"duplicates", "Check for duplicate ids", "/checks/duplicates", false})
	add(true, NavEntry{"settings", "Settings", "/settings", false})
	add(you.MayAdmin, NavEntry{"users", "Users", "/settings/users", false})
	return out
}
