package templates

// place is one entry of the navigation.
type place struct {
	code, name, url, icon string
	bar                   bool // on a phone in the bar under the thumb; the others are in its menu
}

// places are the pages that a person is led to.
func places(s Shell) []place {
	all := []struct {
		place
		may bool
	}{
		{place{"overview", "Overview", "/", "M2 13V8h3v5M6.5 13V3h3v10M11 13V6h3v7", true}, true},
		{place{"locate", "Locate", "/locate",
			"M7 2a5 5 0 1 0 3 9l3.3 3.3 1-1L11 10a5 5 0 0 0-4-8zm0 1.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7", true}, s.You.MayLocate},
		{place{"projects", "Projects", "/projects", "M2 3h5l1.5 2H14v8H2", true}, true},
		{place{"collections", "Collections", "/collections", "M2 3h12v2.5H2M2 6.8h12v2.5H2M2 10.6h12v2.5H2", false}, true},
		{place{"zones", "Zones", "/zones", "M2 2h5v5H2M9 2h5v5H9M2 9h5v5H2M9 9h5v5H9", false}, true},
		{place{"heat", "Heat", "/heat", "M8 1c3 4 5 5 5 8a5 5 0 0 1-10 0c0-3 4-4 5-8", false}, true},
		{place{"activity", "Activity", "/activity", "M1.5 8h3l2-5 3 10 2-5h3v1.4h-2L9.5 15 6.4 5.5 5.5 9.4h-4", true}, true},
		{place{"advise", "Advice", "/advice", "M8 1.5a4.5 4.5 0 0 0-2.5 8.2V12h5V9.7A4.5 4.5 0 0 0 8 1.5M5.5 13h5v1.4h-5", false}, true},
		{place{"runs", "Runs", "/runs", "M3 2l10 6-10 6", false}, s.Runs},
		{place{"audit", "Audit", "/audit", "M3 2h8l2 2v10H3M5 6h6v1.2H5M5 8.5h6v1.2H5M5 11h4v1.2H5", false}, s.You.MayOperate},
	}
	var out []place
	for _, p := range all {
		if p.may {
			out = append(out, p.place)
		}
	}
	return out
}

// inMenu tells whether the current page is one that the bar of a phone has in its menu.
func inMenu(s Shell) bool {
	for _, p := range places(s) {
		if p.code == s.Nav {
			return !p.bar
		}
	}
	return true
}
