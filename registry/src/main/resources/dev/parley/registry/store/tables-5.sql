UPDATE registry_entry SET look = '';
