"""Manual page of the program, made from the texts of its --help."""


def escaped(text):
    """Returns lines that roff prints as they are."""
    lines = text.rstrip().replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def page(version, date, overview, up):
    """Returns the page as roff: overview is the text of parley --help, up that of parley up --help."""
    summary, overview = overview.split("\n", 1)
    return f""".TH PARLEY 1 "{date}" "Parley {version}" "User Commands"
.SH NAME
parley \\- {escaped(summary[0].lower() + summary[1:].rstrip("."))}
.SH SYNOPSIS
.B parley
COMMAND [OPTIONS]
.SH COMMANDS AND OPTIONS
.nf
{escaped(overview)}
.fi
.SH PARLEY UP
.nf
{escaped(up)}
.fi
.SH OTHER COMMANDS
parley help COMMAND prints the usage of any other command.
.SH ENVIRONMENT
.TP
.B PARLEY_JAVA_OPTIONS
Options for the JVM that runs the program.
.SH FILES
.TP
.I ~/.parley
Data directory of a hub, unless \\-\\-data names another one.
.TP
.I ~/.config/a2a\\-cli/.env
Settings of the user.
.SH SEE ALSO
Documentation is shown by the console of a hub, at /ui/.
"""
