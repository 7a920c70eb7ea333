package templates

// NavEntry is a page that is always there, in the navigation or in the palette alone.
type NavEntry struct {
	Code, Name, URL string
	Icon            string // path data in a box of 16 by 16; "" if it is not in the navigation
}

// NavHas is what this shardboard has pages of.
type NavHas struct {
	Runs    bool // changes can be made here
	History bool // the past is recorded
}

// NavOf lists the pages that somebody may use, those of the navigation first.
func NavOf(you You, has NavHas) []NavEntry {
	var out []NavEntry
	add := func(may bool, e NavEntry) {
		if may {
			out = append(out, e)
		}
	}
	add(true, NavEntry{"overview", "Overview", "/", "M2 13V8h3v5M6.5 13V3h3v10M11 13V6h3v7"})
	add(you.MayLocate, NavEntry{"locate", "Locate", "/locate",
		"M7 2a5 5 0 1 0 3 9l3.3 3.3 1-1L11 10a5 5 0 0 0-4-8zm0 1.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7"})
	add(true, NavEntry{"map", "Map", "/map",
		"M1.5 3h6v2.4h-6M9 3h5.5v2.4H9M1.5 6.8h3v2.4h-3M6 6.8h8.5v2.4H6M1.5 10.6h9v2.4h-9M12 10.6h2.5v2.4H12"})
	add(true, NavEntry{"projects", "Projects", "/projects", "M2 3h5l1.5 2H14v8H2"})
	add(true, NavEntry{"collections", "Collections", "/collections", "M2 3h12v2.5H2M2 6.8h12v2.5H2M2 10.6h12v2.5H2"})
	add(true, NavEntry{"matrix", "Matrix", "/matrix",
		"M2 2h3.3v3.3H2M6.4 2h3.3v3.3H6.4M10.7 2H14v3.3h-3.3M2 6.4h3.3v3.3H2M10.7 6.4H14v3.3h-3.3M2 10.7h3.3V14H2M6.4 10.7h3.3V14H6.4"})
	add(true, NavEntry{"zones", "Zones", "/zones", "M2 2h5v5H2M9 2h5v5H9M2 9h5v5H2M9 9h5v5H9"})
	add(true, NavEntry{"heat", "Heat", "/heat", "M8 1c3 4 5 5 5 8a5 5 0 0 1-10 0c0-3 4-4 5-8"})
	add(true, NavEntry{"activity", "Activity", "/activity", "M1.5 8h3l2-5 3 10 2-5h3v1.4h-2L9.5 15 6.4 5.5 5.5 9.4h-4"})
	add(true, NavEntry{"advise", "Advice", "/advice", "M8 1.5a4.5 4.5 0 0 0-2.5 8.2V12h5V9.7A4.5 4.5 0 0 0 8 1.5M5.5 13h5v1.4h-5"})
	add(has.Runs, NavEntry{"runs", "Runs", "/runs", "M3 2l10 6-10 6"})
	add(you.MayOperate, NavEntry{"audit", "Audit", "/audit", "M3 2h8l2 2v10H3M5 6h6v1.2H5M5 8.5h6v1.2H5M5 11h4v1.2H5"})

	add(true, NavEntry{"layout", "Layout", "/layout", ""})
	add(true, NavEntry{"surveys", "Surveys", "/surveys", ""})
	add(true, NavEntry{"alerts", "Alerts", "/alerts", ""})
	add(has.History, NavEntry{"compare", "Compare two times", "/compare", ""})
	add(you.MayLocate, NavEntry{"bulk", "Locate many lines", "/locate/bulk", ""})
	add(true, NavEntry{"duplicates", "Check for duplicate ids", "/checks/duplicates", ""})
	add(true, NavEntry{"settings", "Settings", "/settings", ""})
	add(you.MayAdmin, NavEntry{"users", "Users", "/settings/users", ""})
	return out
}
