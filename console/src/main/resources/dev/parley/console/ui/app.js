// Start of the console. The screens are below screens/.
document.title = "Parley";
