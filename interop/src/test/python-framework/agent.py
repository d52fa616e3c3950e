"""An agent of a hub as a program sees it: what `operations` calls."""

from offered import NotOffered


class Agent:
    """A subclass overrides the methods for what its program can do. Texts are those of messages and artifacts."""

    def __init__(self, url):
        self.url = url

    async def card(self):
        """Returns the name on the card."""
        raise NotOffered('the program shows no card')

    async def converse(self, *texts):
        """Sends each text when the one before is answered; returns the text of each answer."""
        raise NotOffered('the program answers no question')

    async def send(self, text):
        """Returns the text of the answer."""
        [answer] = await self.converse(text)
        return answer

    async def send_file(self, text, name, media_type, content):
        """Sends a text and a file within one message; returns the text of the answer."""
        raise NotOffered('the program sends no files')

    async def send_link(self, text, url, media_type):
        """Sends a text and the URL of a file within one message; returns the text of the answer."""
        raise NotOffered('the program sends no URLs of files')

    async def stream(self, text):
        """Returns the pieces of the artifact in the order of their arrival."""
        raise NotOffered('the program shows no stream')

    async def progress(self, text):
        """Returns the texts of status updates in the order of their arrival."""
        raise NotOffered('the program shows no progress')

    async def start(self, text):
        """Returns the id of a task that goes on, or waits for input."""
        raise NotOffered('the program waits for every task')

    async def get(self, task_id):
        """Returns the state of a task, such as `input-required`."""
        raise NotOffered('the program has no such call')

    async def list(self):
        """Returns the ids of the tasks that wait for input."""
        raise NotOffered('the program has no such call')

    async def cancel(self, task_id):
        """Returns the state of the task afterwards."""
        raise NotOffered('the program has no such call')

    async def subscribe(self, task_id):
        """Follows a task to its end; returns the texts that are shown."""
        raise NotOffered('the program has no such call')

    async def webhook(self, text, url):
        """Sends a text and the URL of a webhook."""
        raise NotOffered('the program has no such setting')

    async def set_push_config(self, task_id, url):
        """Returns the id of the new configuration."""
        raise NotOffered('the program has no such call')

    async def push_configs(self, task_id):
        """Returns the URL of each configuration by its id."""
        raise NotOffered('the program has no such call')

    async def delete_push_config(self, task_id, config_id):
        raise NotOffered('the program has no such call')
