package wanted

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// Where OpenShift lays units and scripts. Those of the operating system itself (/usr/lib) run no containers.
const (
	unitDir       = rhcos.Units
	dispatcherDir = "/etc/NetworkManager/dispatcher.d"
	quadletDir    = "/etc/containers/systemd"
)

// unit is a service as far as it matters here.
type unit struct {
	name       string
	exec       []string          // command lines
	vars       map[string]string // Environment=, EnvironmentFile=
	conditions []string          // ConditionPathExists=
}

// units notes the images that services run by podman before any pod is started, such as nodeip-configuration.
func (g *gathering) units(m *host.Machine) {
	parts := map[string][]string{}
	for _, path := range g.files(m, "units", unitDir+"/*.service") {
		name := filepath.Base(path)
		parts[name] = append([]string{path}, parts[name]...)
	}
	for _, path := range g.files(m, "units", unitDir+"/*.service.d/*.conf") {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(path)), ".d")
		parts[name] = append(parts[name], path)
	}
	for name, paths := range parts {
		u := unit{name: name, vars: map[string]string{}}
		for _, path := range paths {
			g.parseUnit(m, &u, string(g.read(m, "units", path)))
		}
		g.unit(m, u)
	}
	for _, path := range g.files(m, "units", dispatcherDir+"/*", dispatcherDir+"/*/*") {
		g.script(m, "script "+path, path, Boot, nil)
	}
	for _, path := range g.files(m, "units", quadletDir+"/*.container", quadletDir+"/*.image") {
		u := unit{name: filepath.Base(path), vars: map[string]string{}}
		for key, value := range settings(string(g.read(m, "units", path))) {
			if key == "Image" {
				g.add(use{expand(value, u.vars), Needer{Who: ofUnit + u.name, Need: Boot, Source: "units"}})
			}
		}
	}
}

// settings yields the settings of a unit file, with continued lines joined.
func settings(text string) func(func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for line := range strings.SplitSeq(joined(text), "\n") {
			line = strings.TrimSpace(line)
			key, value, ok := strings.Cut(line, "=")
			if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
				continue
			}
			if !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

var continued = regexp.MustCompile(`\\\r?\n`)

func joined(text string) string { return continued.ReplaceAllString(text, " ") }

func (g *gathering) parseUnit(m *host.Machine, u *unit, text string) {
	for key, value := range settings(text) {
		switch {
		case strings.HasPrefix(key, "Exec"):
			if value == "" { // a drop-in that begins again
				u.exec = nil
			}
			u.exec = append(u.exec, value)
		case key == "Environment":
			for _, word := range words(value) {
				if name, v, ok := strings.Cut(word, "="); ok {
					u.vars[name] = v
				}
			}
		case key == "EnvironmentFile":
			for name, v := range settings(string(g.read(m, "units", strings.TrimPrefix(value, "-")))) {
				u.vars[name] = strings.Trim(v, `"'`)
			}
		case key == "ConditionPathExists":
			u.conditions = append(u.conditions, value)
		}
	}
}

// unit notes what one service runs, itself and by the scripts that it starts.
func (g *gathering) unit(m *host.Machine, u unit) {
	need := Spare
	if g.starts(m, u) {
		need = Boot
	}
	for _, line := range u.exec {
		g.command("unit "+u.name, line, need, u.vars)
		for _, path := range scripts.FindAllString(line, -1) {
			g.script(m, "unit "+u.name, path, need, u.vars)
		}
	}
}

// scripts are the paths at which OpenShift lays what units start.
var scripts = regexp.MustCompile(`/(?:usr/local/(?:s?bin|libexec)|etc/[a-z-]+|var/usrlocal/s?bin)/[A-Za-z0-9._/-]+`)

// starts tells whether a service is started at a boot like the next one: it is enabled, or a path, timer or socket of its name
// starts it, and no path that it asks for is missing. First-boot services are ruled out by that.
func (g *gathering) starts(m *host.Machine, u unit) bool {
	base := strings.TrimSuffix(u.name, ".service")
	enabled := false
	for _, kind := range []string{".wants/", ".requires/", ".upholds/"} {
		links, err := m.Glob(unitDir + "/*" + kind + u.name)
		if strings.HasSuffix(base, "@") {
			links, err = m.Glob(unitDir + "/*" + kind + base + "*.service")
		}
		enabled = enabled || err == nil && len(links) > 0
	}
	for _, kind := range []string{".path", ".timer", ".socket"} {
		enabled = enabled || m.Exists(unitDir+"/"+base+kind)
	}
	return enabled && !slices.ContainsFunc(u.conditions, func(path string) bool {
		path, not := strings.CutPrefix(path, "!")
		return strings.HasPrefix(path, "/") && m.Exists(path) == not
	})
}

// script notes what a script runs. Its own assignments count, so that IMAGE=… and podman run $IMAGE is understood.
func (g *gathering) script(m *host.Machine, who, path string, need Need, vars map[string]string) {
	b := g.read(m, "units", path)
	if !strings.Contains(string(b), "podman") {
		return
	}
	known := map[string]string{}
	for name, v := range vars {
		known[name] = v
	}
	for line := range strings.SplitSeq(joined(string(b)), "\n") {
		if parts := assignment.FindStringSubmatch(line); parts != nil {
			known[parts[1]] = expand(strings.Trim(parts[2], `"'`), known)
		}
	}
	for line := range strings.SplitSeq(joined(string(b)), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			g.command(who, line, need, known)
		}
	}
}

var assignment = regexp.MustCompile(`^\s*(?:(?:export|readonly|local|declare)\s+)?([A-Za-z_][A-Za-z0-9_]*)=("[^"$` + "`" + `]*"|'[^']*'|[^\s;"'$` + "`" + `]+)\s*(?:#.*)?$`)

// command notes the images of the podman commands of a line.
func (g *gathering) command(who, line string, need Need, vars map[string]string) {
	images, unclear := podman(line, vars)
	for _, image := range images {
		g.add(use{image, Needer{Who: who, Need: need, Source: "units"}})
	}
	if unclear && need == Boot {
		g.note("units", message.F("%s runs an image whose name is only known when it runs.", Named(who)))
	}
}
