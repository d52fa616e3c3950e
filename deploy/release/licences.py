"""Licences of the libraries in the program, by its bill of materials."""

import json

from build import ReleaseError


def licences(component):
    """Returns the identifiers or names of the licences of a component, any of which may be chosen."""
    names = []
    for entry in component.get("licenses", ()):
        licence = entry.get("license", {})
        names.append(entry.get("expression") or licence.get("id") or licence["name"])
    return names


def check(components, allowed):
    """Fails with the names of the components none of whose licences is allowed."""
    refused = [
        f"{component['name']} {component['version']}: {' or '.join(licences(component)) or 'no licence'}"
        for component in components if not allowed.intersection(licences(component))]
    if refused:
        raise ReleaseError(
            "licences that deploy/release/licences.txt does not list:\n  " + "\n  ".join(refused))


def third_party(release, materials):
    """Returns the text about the libraries of others in the program, after a check of their licences."""
    components = sorted(
        (component for component in json.loads(materials.read_text())["components"] if component.get("group") != "dev.parley"),
        key=lambda component: (component.get("group", ""), component["name"]))
    lines = (release.tree / "deploy/release/licences.txt").read_text().splitlines()
    check(components, {line for line in lines if line and not line.startswith("#")})
    text = "Libraries in this program, with their licences. Where several are named, any of them may be chosen.\n"
    for component in components:
        text += f"\n{component.get('group', '')}:{component['name']} {component['version']}\n"
        text += f"    {' or '.join(licences(component))}\n"
        for reference in component.get("externalReferences", ()):
            if reference["type"] == "website":
                text += f"    {reference['url']}\n"
    return text
